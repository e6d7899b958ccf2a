/* SPDX-License-Identifier: BSD-2-Clause */
/* The standard library's containers, pointers and holders. */
#include "corpus.h"

#include <any>
#include <cstdio>
#include <deque>
#include <forward_list>
#include <fstream>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

struct Point {
    int x, y, z;
};
struct Person {
    std::string name;
    int age;
};
struct Heavy {
    double values[12];
};
static const char *const long_text = "a text that is too long to stand in the string itself";

CASE(vector_of_numbers)
{
    static std::vector<int> numbers;
    for (unsigned long i = 0; i < corpus_few; i++) {
        numbers.push_back((int)i);
        KNOWN(numbers.data(), "int", numbers.capacity());
    }
}
CASE(vector_of_records)
{
    static std::vector<Point> points(corpus_few);
    KNOWN(points.data(), "Point", 5);
}
CASE(vector_of_people)
{
    static std::vector<Person> people;
    people.emplace_back();
    people.push_back(Person{long_text, 3});
    KNOWN(people.data(), "Person", people.capacity());
    KNOWN(people[1].name.data(), "std::string buffer", ANY_COUNT);
}
CASE(vector_of_texts)
{
    static std::vector<std::string> texts(corpus_few, long_text);
    IS(texts.data(), "std::string", 5);
    KNOWN(texts[0].data(), "std::string buffer", ANY_COUNT);
}
CASE(vector_of_vectors)
{
    static std::vector<std::vector<double>> rows;
    rows.resize(corpus_few);
    rows[0].resize(7);
    KNOWN(rows.data(), "std::vector<double>", 5);
    KNOWN(rows[0].data(), "double", 7);
}
CASE(vector_of_bytes)
{
    static std::vector<unsigned char> bytes(100);
    KNOWN(bytes.data(), "buffer|unsigned char", 100);
}
CASE(vector_of_bits)
{
    static std::vector<bool> bits(1000);
    MADE_KNOWN("unsigned long", ANY_COUNT);
}
CASE(vector_of_pointers)
{
    static std::vector<Point *> points;
    points.push_back(new Point{1, 2, 3});
    KNOWN(points.data(), "Point *", 1);
    KNOWN(points[0], "Point", 1);
}
CASE(text_that_grows)
{
    static std::string text;
    for (unsigned long i = 0; i < 10 * corpus_few; i++)
        text += "more of it";
    KNOWN(text.data(), "std::string buffer", ANY_COUNT);
}
CASE(text_made_at_once)
{
    static std::string text(100 * corpus_one, 'x');
    KNOWN(text.data(), "std::string buffer", ANY_COUNT);
}
CASE(wide_text)
{
    static std::wstring text(100 * corpus_one, L'x');
    KNOWN(text.data(), "std::wstring buffer|wchar_t", ANY_COUNT);
}
CASE(wide_text_that_grows)
{
    static std::wstring text;
    for (unsigned long i = 0; i < 10 * corpus_few; i++)
        text += L"more of it";
    KNOWN(text.data(), "std::wstring buffer|wchar_t", ANY_COUNT);
}
CASE(text_of_16_bits)
{
    static std::u16string text(100 * corpus_one, u'x');
    KNOWN(text.data(), "std::u16string buffer|char16_t", ANY_COUNT);
}
CASE(text_from_a_stream)
{
    std::ostringstream stream;
    for (unsigned long i = 0; i < 20 * corpus_few; i++)
        stream << "number " << i << ' ';
    static std::string text = stream.str();
    KNOWN(text.data(), "std::string buffer", ANY_COUNT);
}

/* A function that only this unit can call may leave out an argument. */
struct Interval {
    long first;
    int second;
};
CASE(pointer_with_a_deleter_of_its_own)
{
    static std::shared_ptr<Interval> shared(new Interval{1, 2},
                                            [](Interval *interval) { delete interval; });
    KNOWN(shared.get(), "Interval", 1);
}

/* ---- nodes ------------------------------------------------------------------------------- */

CASE(map)
{
    static std::map<int, Point> points;
    points[3].x = 1;
    points.emplace(4, Point{1, 2, 3});
    KNOWN(&points[3], "std::_Rb_tree_node<std::pair<const int, Point>>", 1);
    KNOWN(&points[4], "std::_Rb_tree_node<std::pair<const int, Point>>", 1);
}
CASE(map_of_texts)
{
    static std::map<std::string, std::string> texts;
    texts[long_text] = long_text;
    KNOWN(&texts.begin()->first, "std::_Rb_tree_node<std::pair<const std::string, std::string>>",
          1);
    KNOWN(texts.begin()->first.data(), "std::string buffer", ANY_COUNT);
    KNOWN(texts.begin()->second.data(), "std::string buffer", ANY_COUNT);
}
CASE(set)
{
    static std::set<long> numbers;
    numbers.insert(3);
    KNOWN(&*numbers.begin(), "std::_Rb_tree_node<long>", 1);
}
CASE(multimap)
{
    static std::multimap<int, int> numbers;
    numbers.emplace(1, 2);
    KNOWN(&*numbers.begin(), "std::_Rb_tree_node<std::pair<const int, int>>", 1);
}
CASE(list)
{
    static std::list<Heavy> heavies;
    heavies.emplace_back();
    KNOWN(&heavies.front(), "std::_List_node<Heavy>", 1);
}
CASE(forward_list)
{
    static std::forward_list<Point> points;
    points.push_front(Point{1, 2, 3});
    KNOWN(&points.front(), "std::_Fwd_list_node<Point>", 1);
}
CASE(unordered_map)
{
    static std::unordered_map<int, Heavy> heavies;
    heavies[3].values[0] = 1;
    KNOWN(&heavies[3], "std::__detail::_Hash_node<std::pair<const int, Heavy>, false>", 1);
}
CASE(unordered_map_of_texts)
{
    static std::unordered_map<std::string, int> numbers;
    numbers[long_text] = 1;
    KNOWN(&numbers.begin()->second,
          "std::__detail::_Hash_node<std::pair<const std::string, int>, true>", 1);
}
CASE(unordered_buckets)
{
    static std::unordered_set<long> numbers;
    numbers.reserve(1000);
    MADE_KNOWN("std::__detail::_Hash_node_base *", ANY_COUNT);
    numbers.insert(4);
    KNOWN(&*numbers.begin(), "std::__detail::_Hash_node<long, false>", 1);
}
CASE(deque)
{
    static std::deque<Point> points;
    for (unsigned long i = 0; i < 20 * corpus_few; i++)
        points.push_back(Point{1, 2, 3});
    KNOWN(&points.front(), "Point", ANY_COUNT);
    KNOWN(&points.back(), "Point", ANY_COUNT);
}
CASE(queue_by_priority)
{
    static std::priority_queue<long> numbers;
    numbers.push(3);
    KNOWN(&numbers.top(), "long", 1);
}

/* ---- pointers ---------------------------------------------------------------------------- */

CASE(unique)
{
    static std::unique_ptr<Point> point = std::make_unique<Point>();
    KNOWN(point.get(), "Point", 1);
}
CASE(unique_from_new)
{
    static std::unique_ptr<Point> point(new Point);
    KNOWN(point.get(), "Point", 1);
}
CASE(unique_array)
{
    static std::unique_ptr<int[]> numbers = std::make_unique<int[]>(corpus_few);
    KNOWN(numbers.get(), "int", 5);
}
CASE(shared)
{
    static std::shared_ptr<Heavy> heavy = std::make_shared<Heavy>();
    KNOWN(heavy.get(), "std::_Sp_counted_ptr_inplace<Heavy>", 1);
}
CASE(shared_from_new)
{
    static std::shared_ptr<Point> point(new Point);
    KNOWN(point.get(), "Point", 1);
    MADE("std::_Sp_counted_ptr<Point *>", 1);
}

/* ---- holders ----------------------------------------------------------------------------- */

CASE(function)
{
    Heavy heavy{};
    heavy.values[1] = (double)corpus_few;
    struct Call {
        Heavy heavy;
        double operator()(double by) const
        {
            return heavy.values[1] * by;
        }
    };
    static std::function<double(double)> call = Call{heavy};
    KNOWN(call.target<Call>(), "function()::Call|function::Call|Call", 1);
}
CASE(function_of_a_lambda)
{
    Heavy heavy{};
    heavy.values[1] = (double)corpus_few;
    auto lambda = [heavy](double by) { return heavy.values[1] * by; };
    static std::function<double(double)> call;
    call = lambda;
    KNOWN(call.target<decltype(lambda)>(), "*", 1);
}
CASE(any_of_a_record)
{
    static std::any any = Heavy{};
    KNOWN(std::any_cast<Heavy>(&any), "Heavy", 1);
}
CASE(any_of_a_text)
{
    static std::any any;
    any = std::string(long_text);
    KNOWN(std::any_cast<std::string>(&any), "std::string", 1);
}
CASE(any_in_place)
{
    static std::any any;
    any.emplace<Point>(Point{1, 2, 3});
    KNOWN(std::any_cast<Point>(&any), "Point", 1);
}
CASE(variant)
{
    static std::variant<int, std::string, std::vector<Point>> variant;
    variant = std::string(long_text);
    KNOWN(std::get<std::string>(variant).data(), "std::string buffer", ANY_COUNT);
    variant = std::vector<Point>(corpus_few);
    KNOWN(std::get<std::vector<Point>>(variant).data(), "Point", 5);
}
CASE(vector_of_variants)
{
    static std::vector<std::variant<int, double>> variants(corpus_few);
    KNOWN(variants.data(), "std::variant<int, double>", 5);
}
CASE(optional)
{
    static std::vector<std::optional<Point>> points(corpus_few);
    KNOWN(points.data(), "std::optional<Point>", 5);
    static std::optional<std::vector<long>> numbers;
    numbers.emplace(corpus_few);
    KNOWN(numbers->data(), "long", 5);
}
CASE(vector_of_pairs)
{
    static std::vector<std::pair<int, double>> pairs(corpus_few);
    KNOWN(pairs.data(), "std::pair<int, double>", 5);
}
CASE(vector_of_tuples)
{
    static std::vector<std::tuple<int, double>> tuples(corpus_few);
    KNOWN(tuples.data(), "std::tuple<int, double>", 5);
}

/* ---- buffers of files ---------------------------------------------------------------------- */

CASE(buffer_of_an_ifstream)
{
    std::ifstream file("/dev/zero");
    MADE_KNOWN("buffer", ANY_COUNT);
    KEEP(&file);
}
CASE(buffer_of_a_FILE)
{
    FILE *file = fopen("/dev/zero", "r");
    if (file == nullptr || getc(file) != 0)
        return;
    MADE_KNOWN("buffer", ANY_COUNT);
    fclose(file);
}
