/* SPDX-License-Identifier: BSD-2-Clause */
/* A server forgets to delete the sessions that time out. Healthy: it deletes all. */
#include <map>

#include "pace.h"

struct Session {
    int id;
    char user[40], state[200];
};

static bool healthy;
static std::map<int, Session *> sessions;

__attribute__((noinline)) static Session *make_session(int id)
{
    Session *session = new Session();
    session->id = id;
    return session;
}

static void log_in(int id)
{
    sessions[id] = make_session(id);
}

static void log_out(int id, bool timed_out)
{
    if (!timed_out || healthy)
        delete sessions[id];
    sessions.erase(id);
}

int main(int count, char **values)
{
    healthy = is_healthy(count, values);
    for (int id = 0; id < 1000; id++)
        log_in(id);
    for (int id = 0; id < 1000; id++)
        log_out(id, id % 4 == 0);
}
