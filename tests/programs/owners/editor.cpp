/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An editor's document: text and styles in gap buffers, lines in a partitioning, a history of
 * actions that keeps copies. The class templates are containers on top of std::vector, so only the
 * member that holds them tells what a block is for.
 */
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#define NOINLINE __attribute__((noinline))

template <typename T> class GapBuffer {
    std::vector<T> body;
    T empty{};
    std::size_t length = 0, gap_begin = 0;

    void move_gap(std::size_t position)
    {
        const std::size_t gap = body.size() - length;
        if (position < gap_begin)
            std::memmove(body.data() + position + gap, body.data() + position,
                         (gap_begin - position) * sizeof(T));
        else if (position > gap_begin)
            std::memmove(body.data() + gap_begin, body.data() + gap_begin + gap,
                         (position - gap_begin) * sizeof(T));
        gap_begin = position;
    }
    void room_for(std::size_t more)
    {
        if (body.size() - length < more)
            reallocate(body.size() + more + body.size() / 2 + 8);
    }
    void reallocate(std::size_t size)
    {
        move_gap(length);
        body.resize(size);
    }

public:
    void insert(std::size_t position, const T *values, std::size_t count)
    {
        room_for(count);
        move_gap(position);
        std::memcpy(body.data() + position, values, count * sizeof(T));
        length += count;
        gap_begin += count;
    }
    void fill(std::size_t position, std::size_t count, T value)
    {
        for (std::size_t i = 0; i < count; i++)
            insert(position + i, &value, 1);
    }
    std::size_t size() const { return length; }
};

struct Action {
    std::size_t position = 0;
    std::unique_ptr<char[]> copy;
    std::size_t length = 0;
};

class History {
    std::vector<Action> actions;

public:
    void add(std::size_t position, const char *text, std::size_t length)
    {
        Action action;
        action.position = position;
        action.copy.reset(new char[length]);
        action.length = length;
        std::memcpy(action.copy.get(), text, length);
        actions.push_back(std::move(action));
    }
    std::size_t size() const { return actions.size(); }
};

class CellBuffer {
    GapBuffer<char> text;
    GapBuffer<char> style;
    History history;

public:
    NOINLINE void insert(std::size_t position, const char *characters, std::size_t length)
    {
        text.insert(position, characters, length);
        style.fill(position, length, 0);
        history.add(position, characters, length);
    }
    std::size_t size() const { return text.size() + style.size() + history.size(); }
};

class Document {
    CellBuffer cells;
    std::string name;
    std::vector<std::size_t> lines;
    std::map<std::string, int> marks;

public:
    NOINLINE void rename(const char *to) { name.assign(to); }
    NOINLINE void insert(const char *line)
    {
        lines.push_back(cells.size());
        cells.insert(0, line, std::strlen(line));
    }
    NOINLINE void mark(const std::string &at, int line) { marks[at] = line; }
    NOINLINE std::size_t count()
    {
        std::vector<std::size_t> copy; /* a variable, not a member */
        for (std::size_t line : lines)
            copy.push_back(line + 1);
        return copy.size();
    }
    std::size_t size() const { return cells.size() + name.size() + marks.size(); }
};

static std::vector<std::string> recent;

NOINLINE static void remember(const char *name)
{
    recent.push_back(name);
}

int main()
{
    auto document = std::make_unique<Document>();
    document->rename("/home/someone/a/rather/long/name/of/a/file.txt");
    for (int i = 0; i < 2000; i++) {
        document->insert("a line of text that is neither short nor long\n");
        if (i % 100 == 0)
            document->mark("bookmark number " + std::to_string(1000000 + i), i);
    }
    for (int i = 0; i < 10; i++)
        remember("a name that does not fit into the string itself");
    std::printf("%zu %zu\n", document->size(), document->count());
    return 0;
}
