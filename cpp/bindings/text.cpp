// Bindings of the parsers of text files.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "maxmargin/text/csv.hpp"
#include "maxmargin/text/libsvm_text.hpp"
#include "python.hpp"

using namespace maxmargin;
using namespace nb::literals;

using Text = In<std::uint8_t, 1>;

static std::string_view view(const Text& text) {
    return {reinterpret_cast<const char*>(text.data()), text.shape(0)};
}

static MissingWords missing_words(const std::vector<std::string>& words) {
    MissingWords missing;
    for (const std::string& word : words) missing.add(word);
    return missing;
}

// None, or (what, line, column, byte, count, found).
static nb::object error_tuple(const TextError& error) {
    if (!error) return nb::none();
    return nb::make_tuple(error.what, error.line, error.column, error.byte, error.count,
                          nb::bytes(error.found.data(), error.found.size()));
}

static nb::list word_list(const WordTable& table) {
    nb::list words;
    for (std::size_t code = 0; code < table.size(); ++code)
        words.append(nb::str(table[code].data(), table[code].size()));
    return words;
}

template <class T>
static nb::object array_of(const std::vector<T>& values) {
    T* data = new T[values.size() + 1];
    std::copy(values.begin(), values.end(), data);
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {values.size()}, owner));
}

static std::size_t feed_csv(CsvParser& parser, const Text& text, bool at_end, const Out<double, 2>& numbers,
                            const Out<std::int32_t, 2>& codes, std::size_t capacity, int n_threads,
                            std::size_t part_bytes) {
    const auto count = [&](ColumnKind kind) {
        return std::size_t(std::count(parser.kinds().begin(), parser.kinds().end(), kind));
    };
    const std::size_t stride = numbers.shape(0) ? numbers.shape(1) : codes.shape(1);
    const auto fits = [&](const auto& out, std::size_t n) {
        return out.shape(0) == n && (n == 0 || out.shape(1) == stride);
    };
    const bool stored = numbers.shape(0) + codes.shape(0) > 0;
    if (n_threads < 1 || part_bytes < 1)
        throw std::invalid_argument("n_threads and part_bytes must be positive.");
    if (capacity == 0 || (stored && stride < capacity) || !fits(numbers, count(ColumnKind::number)) ||
        !fits(codes, count(ColumnKind::words)))
        throw std::invalid_argument(
            "numbers and codes must have one row for each of their columns, at least `capacity` long.");
    double* number_rows = numbers.shape(0) ? numbers.data() : nullptr;
    std::int32_t* code_rows = codes.shape(0) ? codes.data() : nullptr;
    nb::gil_scoped_release released;
    return parser.feed(view(text), at_end, {number_rows, code_rows, stride, capacity}, n_threads, part_bytes);
}

static void bind_csv(nb::module_& m) {
    m.def(
        "csv_first_row",
        [](Text text, bool at_end, char delimiter) {
            const std::string_view all = view(text);
            const char *first = all.data(), *last = first + all.size();
            CsvScanner scan{first, last, at_end, delimiter, first_bad_byte(first, last, at_end), 1};
            std::vector<std::string> fields;
            const std::size_t done = first_row(scan, fields);
            if (scan.error || done == 0) fields.clear();
            return nb::make_tuple(fields, done, scan.line, error_tuple(scan.error));
        },
        "text"_a.noconvert(), "at_end"_a, "delimiter"_a);
    nb::class_<CsvParser>(m, "CsvParser")
        .def(
            "__init__",
            [](CsvParser* self, char delimiter, Text kinds, const std::vector<std::string>& missing,
               std::int64_t target, std::int64_t line, std::size_t word_bytes, const std::string& decimal) {
                if (decimal != "" && decimal != "." && decimal != ",")
                    throw std::invalid_argument("decimal must be a point, a comma or empty; got '" + decimal +
                                                "'.");
                std::vector<ColumnKind> list;
                for (std::size_t j = 0; j < kinds.shape(0); ++j) {
                    if (kinds.data()[j] > 3)
                        throw std::invalid_argument("kinds must be numbers from 0 to 3; got " +
                                                    std::to_string(kinds.data()[j]) + ".");
                    list.push_back(ColumnKind(kinds.data()[j]));
                }
                new (self) CsvParser(delimiter, list, missing_words(missing), target, line, word_bytes,
                                     decimal.empty() ? char(0) : decimal[0]);
            },
            "delimiter"_a, "kinds"_a.noconvert(), "missing"_a, "target"_a, "line"_a, "word_bytes"_a,
            "decimal"_a = "")
        .def("feed", &feed_csv, "text"_a.noconvert(), "at_end"_a, "numbers"_a.noconvert(),
             "codes"_a.noconvert(), "capacity"_a, "n_threads"_a = 1, "part_bytes"_a = 1 << 17)
        .def("next_block", &CsvParser::next_block)
        .def("words", [](const CsvParser& parser,
                         std::size_t column) { return word_list(parser.tables().at(column)); })
        .def("guess",
             [](const CsvParser& parser, std::size_t column) {
                 const ColumnGuess& guess = parser.guesses().at(column);
                 return nb::make_tuple(guess.words, error_tuple(guess.not_finite));
             })
        .def_prop_ro("full", &CsvParser::full)
        .def_prop_ro("n_rows", &CsvParser::n_rows)
        .def_prop_ro("line", &CsvParser::line)
        .def_prop_ro("error", [](const CsvParser& parser) { return error_tuple(parser.error()); });
}

static void bind_libsvm(nb::module_& m) {
    nb::class_<LibsvmParser>(m, "LibsvmParser")
        .def(
            "__init__",
            [](LibsvmParser* self, std::int64_t first_index, std::int64_t n_features,
               const std::vector<std::string>& missing, std::int64_t line, std::size_t max_entries) {
                new (self) LibsvmParser(first_index, n_features, missing_words(missing), line, max_entries);
            },
            "first_index"_a, "n_features"_a, "missing"_a, "line"_a, "max_entries"_a)
        .def(
            "feed",
            [](LibsvmParser& parser, Text text, bool at_end, std::size_t capacity) {
                nb::gil_scoped_release released;
                return parser.feed(view(text), at_end, capacity);
            },
            "text"_a.noconvert(), "at_end"_a, "capacity"_a)
        .def("next_block", &LibsvmParser::next_block)
        .def("arrays",
             [](const LibsvmParser& parser) {
                 return nb::make_tuple(array_of(parser.values()), array_of(parser.indices()),
                                       array_of(parser.starts()), array_of(parser.codes()));
             })
        .def("labels", [](const LibsvmParser& parser) { return word_list(parser.labels()); })
        .def_prop_ro("full", &LibsvmParser::full)
        .def_prop_ro("n_rows", &LibsvmParser::n_rows)
        .def_prop_ro("n_columns_seen", &LibsvmParser::n_columns_seen)
        .def_prop_ro("line", &LibsvmParser::line)
        .def_prop_ro("error", [](const LibsvmParser& parser) { return error_tuple(parser.error()); });
}

void bind_text(nb::module_& m) {
    bind_csv(m);
    bind_libsvm(m);
}
