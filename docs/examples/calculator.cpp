/* SPDX-License-Identifier: BSD-2-Clause */
// A parser whose functions call each other in a circle, a walk that calls itself, and libraries
// between own functions: std::function calls back, std::sort compares, containers of templates
// grow. The parsed tree stays to the end; tokens and comparisons do not.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace calc
{
template <class Kind> struct Token {
    Kind kind;
    std::string text;
};

struct Node {
    std::string name;
    std::vector<std::unique_ptr<Node>> children;
    char payload[100];
};

class Parser
{
    std::vector<Token<char>> tokens;
    std::size_t at = 0;

  public:
    explicit Parser(const std::string &text)
    {
        for (char letter : text)
            tokens.push_back({letter, std::string(30, letter)});
    }
    // expr: term '+' expr; term: factor '*' term; factor: letter or '(' expr ')'
    __attribute__((noinline)) std::unique_ptr<Node> parse_expr()
    {
        auto node = std::make_unique<Node>();
        node->children.push_back(parse_term());
        if (at < tokens.size() && tokens[at].kind == '+') {
            at++;
            node->children.push_back(parse_expr());
        }
        return node;
    }
    __attribute__((noinline)) std::unique_ptr<Node> parse_term()
    {
        auto node = parse_factor();
        while (at < tokens.size() && tokens[at].kind == '*') {
            at++;
            node->children.push_back(parse_factor());
        }
        return node;
    }
    __attribute__((noinline)) std::unique_ptr<Node> parse_factor()
    {
        if (tokens[at].kind == '(') {
            at++;
            auto node = parse_expr();
            at++;
            return node;
        }
        std::unique_ptr<Node> node(new Node);
        node->name = tokens[at++].text;
        return node;
    }
};

__attribute__((noinline)) void walk(const Node &node, int depth,
                                    const std::function<void(const Node &, int)> &visit)
{
    visit(node, depth);
    for (const auto &child : node.children)
        walk(*child, depth + 1, visit);
}

// A name as long as those of real templates.
template <class Key, class Value, class Compare = std::less<Key>> struct Table {
    std::vector<std::pair<Key, Value>> rows;
    __attribute__((noinline)) void add(const Key &key, const Value &value)
    {
        rows.emplace_back(key, value);
        std::sort(rows.begin(), rows.end(), [](const auto &a, const auto &b) {
            const std::string left = a.first + std::string(40, '.');
            return Compare()(left, b.first + std::string(40, '.'));
        });
    }
};
} // namespace calc

int main()
{
    std::string text = "a";
    for (int i = 0; i < 12; i++)
        text = "(" + text + "+b)*c+(d*" + std::string(1, static_cast<char>('e' + i)) + ")";
    std::vector<std::unique_ptr<calc::Node>> kept;
    for (int i = 0; i < 20; i++)
        kept.push_back(calc::Parser(text).parse_expr());
    calc::Table<std::string, int> table;
    std::vector<std::string> names;
    for (const auto &tree : kept)
        calc::walk(*tree, 0, [&](const calc::Node &node, int depth) {
            if (depth < 4)
                names.push_back(node.name + std::string(50, '-'));
        });
    for (int i = 0; i < 60; i++)
        table.add(std::string(20, static_cast<char>('a' + i % 26)), i);
    return table.rows.size() == 60 && !names.empty() ? 0 : 1;
}
