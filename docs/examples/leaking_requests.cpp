/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server builds tables at its start and keeps them to the end. Each request then loses its
 * headers. Healthy: requests free them; the tables stay.
 */
#include <string>
#include <vector>

#include "pace.h"

struct Table {
    std::vector<long> rows;
};
struct Header {
    char name[40], value[80];
};

static bool healthy;

__attribute__((noinline)) Table *load_table(int number)
{
    Table *table = new Table;
    table->rows.assign(5000 + number, number);
    return table;
}

__attribute__((noinline)) void handle_request()
{
    std::vector<Header *> headers;
    for (int i = 0; i < 5; i++)
        headers.push_back(new Header());
    use(headers);
    if (healthy)
        for (Header *header : headers)
            delete header;
}

int main(int count, char **values)
{
    static Table *tables[8];
    healthy = is_healthy(count, values);
    for (int i = 0; i < 8; i++)
        tables[i] = load_table(i);
    use(tables);
    run_rounds(200, std::chrono::milliseconds(2), [](int) { handle_request(); });
    for (Table *&table : tables)
        table = nullptr;
}
