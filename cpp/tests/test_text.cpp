// Parsers of text files: every way to cut a text into pieces gives the same rows, and errors are where they
// are.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "check.hpp"
#include "maxmargin/text/csv.hpp"
#include "maxmargin/text/libsvm_text.hpp"

using namespace maxmargin;
using Kinds = std::vector<ColumnKind>;

constexpr auto NUMBER = ColumnKind::number, WORDS = ColumnKind::words, GUESS = ColumnKind::guess;

static MissingWords missing() {
    MissingWords words;
    for (const char* word : {"", "?", "NA"}) words.add(word);
    return words;
}

struct Parsed {
    std::vector<double> numbers;
    std::vector<std::string> words;
    TextError error;
    std::size_t n_rows = 0;
    std::vector<ColumnGuess> guesses;
};

// One block of up to 8 rows, fed in pieces that grow by `step` bytes.
static Parsed parse(const std::string& text, const Kinds& kinds, std::size_t step, std::int64_t target = -1,
                    char delimiter = ',') {
    CsvParser parser(delimiter, kinds, missing(), target, 1, 1000);
    std::vector<double> numbers(8 * kinds.size());
    std::vector<std::int32_t> codes(8 * kinds.size());
    std::size_t done = 0;
    for (std::size_t size = std::min(step, text.size());; size = std::min(size + step, text.size())) {
        const std::string piece = text.substr(done, size - done);  // a copy: reads behind its end are seen
        done += parser.feed(piece, size == text.size(), {numbers.data(), codes.data(), 8, 8}, 1);
        if (parser.error() || size == text.size()) break;
    }
    Parsed out{{}, {}, parser.error(), parser.n_rows(), parser.guesses()};
    std::size_t number_row = 0, code_row = 0;
    for (std::size_t j = 0; j < kinds.size(); ++j)
        for (std::size_t i = 0, r = kinds[j] == NUMBER ? number_row++ : code_row++; i < out.n_rows; ++i) {
            if (kinds[j] == NUMBER) out.numbers.push_back(numbers[8 * r + i]);
            if (kinds[j] != WORDS) continue;
            const std::int32_t code = codes[8 * r + i];
            out.words.push_back(code < 0 ? "<missing>" : std::string(parser.tables()[j][std::size_t(code)]));
        }
    return out;
}

// Every delimiter that open_source allows, also blanks and characters of a number: a row means the same at
// any place of a block, however the text is cut.
static void rows_mean_the_same_at_every_place() {
    for (int c = 1; c < 128; ++c) {
        const std::string d(1, char(c));
        if (c == '"' || c == '\r' || c == '\n') continue;
        for (const std::string& row :
             {"1.5" + d + "2.5 \n", "1.5" + d + "2.5\n", "-1e5" + d + " .25\n", "12" + d + "-3e-2\n",
              "1.5" + d + d + "2.5\n", "1.5" + d + "2.5" + d + "\n", std::string("1e5\n")})
            for (const Kinds& kinds : {Kinds{NUMBER, NUMBER}, Kinds{NUMBER}, Kinds{GUESS, NUMBER}}) {
                std::string text;
                for (int k = 0; k < 6; ++k) text += row;
                const Parsed one = parse(row, kinds, row.size(), -1, d[0]);
                for (std::size_t step = 1; step <= text.size(); ++step) {
                    const Parsed all = parse(text, kinds, step, -1, d[0]);
                    CHECK(bool(all.error) == bool(one.error));
                    CHECK(all.n_rows == 6 * one.n_rows);
                    if (one.error) continue;
                    for (std::size_t i = 0; i < all.numbers.size(); ++i)
                        CHECK(all.numbers[i] == one.numbers[i / 6] ||
                              (std::isnan(all.numbers[i]) && std::isnan(one.numbers[i / 6])));
                }
            }
    }
}

static void numbers_as_people_write_them() {
    const auto value = [](const char* text, char decimal) {
        std::string plain;
        const ParsedNumber number = written_number(text, decimal, plain);
        return number.what == NumberIs::finite ? number.value : -1.0;
    };
    for (const char* text : {"1234567,5", "1.234.567,5", "1 234 567,5", "1'234'567,5",
                             "1\xC2\xA0"
                             "234\xC2\xA0"
                             "567,5",
                             "+1.234.567,5", "1234567,5e0"})
        CHECK(value(text, ',') == 1234567.5);
    CHECK(value("1,234,567.5", '.') == 1234567.5 && value("1,234", '.') == 1234 &&
          value("1,234", ',') == 1.234);
    CHECK(value(",5", ',') == 0.5 && value("7", ',') == 7 && value("0,123", ',') == 0.123 &&
          value("1.234", ',') == 1234);
    for (const char* text : {"1.23", "1234.567,5", "1.234 567", "1,2,3", "1,5.2", ".234", "", "-", "1.2345",
                             "1,2 345", "0.123", "-0.123", "01.234", "001.234", "010.168.001.001"})
        CHECK(value(text, ',') == -1.0);
    CHECK(value("1.5.2", '.') == -1.0 && value("12,34", '.') == -1.0);
}

// The short way to a number is taken only inside of a text, far from its end: the value must be that of the
// long way, bit for bit, and what is no number must be refused.
static void numbers_inside_a_text() {
    const std::string behind = ",0,0,0,0,0,0,0,0,0,0,0,0,0,0";
    for (const char* text : {"0",
                             "-0",
                             "7",
                             "-7",
                             "12345678",
                             "123456789",
                             "1234567890123456",
                             "00012",
                             "1.",
                             "-1.",
                             "1.5",
                             "-0.1",
                             "0.30000000000000004",
                             "9.87654321",
                             "-9.8765432",
                             "9.876543210",
                             "12.5",
                             "-12345678.12345678",
                             "99999999.99999999",
                             "12345678.123456789",
                             "0.00000001",
                             "+1.5",
                             ".5",
                             "-.5",
                             "1e3",
                             "1.5e-3",
                             "-1.5E+3",
                             " 2.5",
                             "  -3",
                             "2.5 ",
                             "4.9e-324",
                             "1.7976931348623157e308"}) {
        const Parsed parsed = parse(text + behind + "\n", Kinds(15, NUMBER), 1000);
        const std::string bare = std::string(text).substr(std::string(text).find_first_not_of(' '));
        double value = std::strtod(bare.c_str(), nullptr);
        CHECK(!parsed.error && parsed.n_rows == 1);
        CHECK(std::memcmp(&parsed.numbers[0], &value, sizeof value) == 0);
    }
    for (const char* text :
         {"1.2.3", "--1", "-", ".", "1-", "1.2x", "x", "1 2", "0x10", "12345678x", "1..2", "-+1"}) {
        const TextError error = parse(text + behind + "\n", Kinds(15, NUMBER), 1000).error;
        CHECK(error && std::string(error.what) == "not a number");
    }
    const Parsed rows = parse("1.5,2\n3,-4.25\n5.125,6\n-7,8.0\n9,10\n", Kinds(2, NUMBER), 1000);
    CHECK(rows.numbers == (std::vector<double>{1.5, 3, 5.125, -7, 9, 2, -4.25, 6, 8, 10}));
}

static void rows_do_not_depend_on_pieces() {
    const std::string text =
        "1.5, a b ,\"x\"\"y,\n\"\r\n\n-2e-3,NA,\"\"\n  \n +.5 ,\xC3\xA9t\xC3\xA9, \"q\" \n7,?,end";
    for (std::size_t step = 1; step <= text.size(); ++step) {
        const Parsed parsed = parse(text, {NUMBER, WORDS, WORDS}, step);
        CHECK(!parsed.error && parsed.n_rows == 4);
        CHECK((parsed.numbers == std::vector<double>{1.5, -2e-3, 0.5, 7}));
        CHECK((parsed.words == std::vector<std::string>{"a b", "<missing>", "\xC3\xA9t\xC3\xA9", "<missing>",
                                                        "x\"y,\n", "<missing>", "q", "end"}));
    }
}

static void csv_errors_have_places() {
    struct Case {
        std::string text;
        const char* what;
        std::int64_t line, column;
    };
    const Case cases[] = {
        {"1,a\n2\n", "short row", 2, 1},         {"1,a\n\n2,b,c,d\n", "long row", 3, 2},
        {"1,a\nx,b\n", "not a number", 2, 0},    {"1,a\n1e400,b\n", "not finite", 2, 0},
        {"-inf,b\n", "not finite", 1, 0},        {"1,\"a\nb\"\n2,NA\n", "missing label", 3, 1},
        {"1,\"ab\n\n", "open quote", 1, 1},      {"1,\"a\"b\n", "text after quote", 1, 1},
        {"1,a\rb\n", "carriage return", 1, 1},   {std::string("1,a\0b\n", 6), "NUL byte", 1, 1},
        {"1,a\n2,\xFF\n", "not UTF-8", 2, 1},    {"1,\xE2\x82", "not UTF-8", 1, 1},
        {"1,\xED\xA0\x80\n", "not UTF-8", 1, 1}, {"1 2,a\n", "not a number", 1, 0},
        {"0x10,a\n", "not a number", 1, 0},      {"1,a\r", "carriage return", 1, 1},
    };
    for (const Case& c : cases)
        for (std::size_t step = 1; step <= c.text.size(); ++step) {
            const TextError error = parse(c.text, {NUMBER, WORDS}, step, 1).error;
            CHECK(error && std::string(error.what) == c.what && error.line == c.line &&
                  error.column == c.column);
        }
}

static void kinds_are_guessed() {
    const std::string text = "1,1,12e456,1e999\n2,?,b,2\nNA,x,c,inf\n";
    for (std::size_t step = 1; step <= text.size(); ++step) {
        const Parsed parsed = parse(text, {GUESS, GUESS, GUESS, GUESS}, step);
        CHECK(parsed.n_rows == 3 && !parsed.guesses[0].words && parsed.guesses[1].words &&
              parsed.guesses[2].words);
        CHECK(!parsed.guesses[3].words && parsed.guesses[3].not_finite.line == 1);
    }
}

static void numbers_to_the_last_bit() {
    for (const char* text :
         {"0.1", "-1e-320", "1.7976931348623157e308", "2.2250738585072011e-308", "-0", "9007199254740993",
          "123456789012345678901234567890", "1e-999", "0.000000000000000000001e-330"}) {
        const ParsedNumber number = whole_number(text);
        const double expected = std::strtod(text, nullptr);
        CHECK(number.what == NumberIs::finite && number.value == expected);
        CHECK(std::signbit(number.value) == std::signbit(expected));
    }
    for (const char* text : {"1e309", "-1e400", "+Inf", "infinity", "1e99999999999"})
        CHECK(whole_number(text).what == NumberIs::not_finite);
    for (const char* text : {"", "-", "+-1", "1e", ".", "nan", "1,5", "1_0", " 1", "e5", "--1"})
        CHECK(whole_number(text).what == NumberIs::not_a_number);
    CHECK(whole_number(std::string(400, '9')).what == NumberIs::not_finite);
    CHECK(whole_number("0." + std::string(400, '0') + "1").value == 0.0);
}

// What stands behind a number decides how it is read, never what it is.
static void check_decimal(const std::string& text) {
    for (const char* behind : {"", ",12345678", "\n1", ";........", "   ,1234567"}) {
        const std::string all = text + behind;
        const ParsedNumber number = parse_number(all.data(), all.data() + all.size());
        const double expected = std::strtod(text.c_str(), nullptr);
        CHECK(number.what == NumberIs::finite && number.end == all.data() + text.size());
        CHECK(number.value == expected && std::signbit(number.value) == std::signbit(expected));
    }
}

static void decimals_are_rounded_once() {
    for (const char* text : {"5.",
                             ".5",
                             "-.25",
                             "+7",
                             "00.100",
                             "0000000000000000000.5",
                             "-0.0",
                             "12345678",
                             "123456789",
                             "1234567.8",
                             "12345678.12345678",
                             "9007199254740993",
                             "1e5",
                             "1.5E-3",
                             "9007199254740992.5",
                             "0.3",
                             "18446744073709551615",
                             "9999999999999999999",
                             "4503599627370496.5",
                             "4503599627370497.5",
                             "0.9999999999999999999"})
        check_decimal(text);
    std::uint64_t state = 1;
    const auto draw = [&](std::uint64_t n) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return (state >> 33) % n;
    };
    for (int i = 0; i < 20000; ++i) {
        std::string text = draw(2) ? "-" : "";
        const std::uint64_t whole = draw(12), places = draw(21);
        for (std::uint64_t k = 0; k <= whole; ++k) text += char('0' + draw(10));
        if (places) text += '.';
        for (std::uint64_t k = 0; k < places; ++k) text += char('0' + draw(10));
        check_decimal(text);
    }
    for (std::uint64_t odd = 1; odd < 400; odd += 2) {  // halfway between two doubles, and next to it
        const std::uint64_t half = (std::uint64_t(1) << 53) + odd;
        for (const std::uint64_t near : {half - 1, half, half + 1})
            for (const char* rest : {"", ".0", ".001", ".000"}) check_decimal(std::to_string(near) + rest);
    }
}

static void words_are_numbered_as_they_come() {
    WordTable table;
    std::size_t n_bytes = 0;
    for (int round = 0; round < 2; ++round)
        for (int i = 0; i < 3000; ++i)
            CHECK(table.code(std::string(std::size_t(i % 20), 'x') + std::to_string(i), n_bytes) == i);
    CHECK(table.size() == 3000 && table[2999] == std::string(19, 'x') + "2999" && table[0] == "0");
    CHECK(table.code("", n_bytes) == 3000 && table.code("", n_bytes) == 3000 && table[3000].empty());
    table.clear();
    CHECK(table.size() == 0 && table.code("a", n_bytes) == 0);
}

static void libsvm_rows_and_errors() {
    const std::string text = "+1 1:0.5 3:-2 # c\r\n# all comment\n\n-1\n2.5\t2:1e-3 \n+1 4:1";
    for (std::size_t step = 1; step <= text.size(); ++step) {
        LibsvmParser parser(1, 100, missing(), 1, 1000);
        std::size_t done = 0;
        for (std::size_t size = step;; size = std::min(size + step, text.size())) {
            const std::string piece = text.substr(done, size - done);
            done += parser.feed(piece, size == text.size(), 10);
            if (size == text.size()) break;
        }
        CHECK(!parser.error() && done == text.size() && parser.n_columns_seen() == 4);
        CHECK((parser.starts() == std::vector<std::int64_t>{0, 2, 2, 3, 4}));
        CHECK((parser.indices() == std::vector<std::int32_t>{0, 2, 1, 3}));
        CHECK((parser.values() == std::vector<double>{0.5, -2, 1e-3, 1}));
        CHECK((parser.codes() == std::vector<std::int32_t>{0, 1, 2, 0}));
    }
    const std::pair<const char*, const char*> wrong[] = {
        {"1 0:1", "index 0"},
        {"1 -1:1", "negative index"},
        {"1 4294967297:1", "index too large"},
        {"1 18446744073709551616:1", "index too large"},
        {"1 2:1 1:1", "index out of order"},
        {"1 2:1 2:1", "repeated index"},
        {"1 1:nan", "not a number"},
        {"1 1:inf", "not finite"},
        {"1 1:1e400", "not finite"},
        {"1 1", "no colon"},
        {"1 a:1", "index"},
        {"1 1.5:1", "index"},
        {"1:1 2:1", "no label"},
        {"1,2 1:1", "several labels"},
        {"NA 1:1", "missing label"},
        {"1 qid:3 1:1", "qid"},
        {"1 1:", "not a number"},
        {"1 101:1", "more features"},
        {"1 1:1x", "not a number"},
        {"1 x", "no colon"},
    };
    for (const auto& [line, what] : wrong) {
        LibsvmParser parser(1, 100, missing(), 1, 1000);
        parser.feed(std::string("1 1:1\n") + line, true, 10);
        CHECK(parser.error() && std::string(parser.error().what) == what && parser.error().line == 2);
    }
}

void test_text() {
    rows_mean_the_same_at_every_place();
    numbers_as_people_write_them();
    numbers_inside_a_text();
    rows_do_not_depend_on_pieces();
    csv_errors_have_places();
    kinds_are_guessed();
    numbers_to_the_last_bit();
    decimals_are_rounded_once();
    words_are_numbered_as_they_come();
    libsvm_rows_and_errors();
}
