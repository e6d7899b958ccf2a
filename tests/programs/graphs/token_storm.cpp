/* SPDX-License-Identifier: BSD-2-Clause */
/* A parser makes an object of each character and drops it at once. Healthy: it reuses one. */
#include <memory>

#include "pace.h"

struct Token {
    char letter;
    int line, column;
    char text[24];
};

__attribute__((noinline)) int parse(const char *text, int length, bool healthy)
{
    int words = 0;
    Token reused = {};
    for (int i = 0; i < length; i++) {
        std::unique_ptr<Token> made(healthy ? nullptr : new Token());
        Token *token = made ? made.get() : &reused;
        token->letter = text[i % 64];
        use(*token);
        words += token->letter == ' ';
    }
    return words;
}

int main(int count, char **values)
{
    static const char text[65] = "one line of sixty-four characters is parsed again and again   . ";
    return parse(text, 40000, is_healthy(count, values)) < 0;
}
