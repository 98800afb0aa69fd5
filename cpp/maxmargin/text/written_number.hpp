// Numbers as people write them: a decimal point or comma, and digits in groups of three.
#pragma once

#include <string>
#include <string_view>

#include "maxmargin/text/text_number.hpp"

namespace maxmargin {

// The bytes of the separator of groups at the start of the text: the sign that is not the decimal one, a
// space, an apostrophe, or one of their relatives in UTF-8. Empty if there is none.
inline std::string_view group_separator(std::string_view text, char decimal) {
    for (std::string_view sign :
         {decimal == ',' ? "." : ",", " ", "'", "\xC2\xA0", "\xE2\x80\xAF", "\xE2\x80\x99"})
        if (text.substr(0, sign.size()) == sign) return text.substr(0, sign.size());
    return {};
}

inline std::size_t n_digits(std::string_view text) {
    std::size_t n = 0;
    while (n < text.size() && is_digit(text[n])) ++n;
    return n;
}

// The whole text as one number with this decimal sign: "1.234.567,5" with a comma. Groups, if there are any,
// all have three digits but for the first, which may have fewer and does not begin with 0 (0.123 is not a
// number with a decimal comma), and one separator. `plain` is scratch.
inline ParsedNumber written_number(std::string_view text, char decimal, std::string& plain) {
    const ParsedNumber none{is_infinity(text) ? NumberIs::not_finite : NumberIs::not_a_number, 0.0,
                            text.data()};
    plain.clear();
    std::string_view rest = text;
    if (!rest.empty() && (rest[0] == '-' || rest[0] == '+')) {
        plain += rest[0];
        rest.remove_prefix(1);
    }
    const std::size_t first = n_digits(rest);
    const bool begins_with_0 = first > 0 && rest[0] == '0';
    plain += rest.substr(0, first);
    rest.remove_prefix(first);
    if (const std::string_view sign = group_separator(rest, decimal); !sign.empty()) {
        if (first < 1 || first > 3 || begins_with_0) return none;
        while (!sign.empty() && rest.substr(0, sign.size()) == sign) {
            rest.remove_prefix(sign.size());
            if (n_digits(rest) != 3) return none;
            plain += rest.substr(0, 3);
            rest.remove_prefix(3);
        }
    }
    if (!rest.empty() && rest[0] == decimal) {
        plain += '.';
        rest.remove_prefix(1);
    }
    if (rest.find(decimal) != rest.npos || rest.find('.') != rest.npos) return none;
    plain += rest;
    const ParsedNumber number = whole_number(plain);
    return number.what == NumberIs::not_a_number ? none : number;
}

// Reads whole fields: with this decimal sign, and maybe groups of digits, or plain numbers if it is 0.
struct NumberReader {
    char decimal = 0;
    std::string plain{};

    ParsedNumber operator()(std::string_view field) {
        return decimal ? written_number(field, decimal, plain) : whole_number(field);
    }
};

}  // namespace maxmargin
