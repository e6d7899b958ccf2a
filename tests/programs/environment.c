/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks for the recorder's variables, then executes itself as a leaf, which allocates 4321 bytes.
 * usage: environment HOW [keep|clear|preload|set]
 *
 * HOW is the function that executes. clear: clearenv() before; preload: LD_PRELOAD is another
 * library; set: the words of wordexp set a variable.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

static char self[] = "/proc/self/exe", leaf[] = "leaf", path[4096];

static int look(char **entries)
{
    for (; entries && *entries; entries++)
        if (strncmp(*entries, "MPROF_O", 7) == 0 || strstr(*entries, "libmprof"))
            return 1;
    return 0;
}

static int by_shell(const char *how, const char *what)
{
    char command[5000], line[64] = "";
    snprintf(command, sizeof(command), "%s 'leaf' \"$0\" '' &&echo \"it's $0\"", path);
    if (strcmp(how, "system") == 0)
        return system(command) != 0 || WEXITSTATUS(system("exit 7")) != 7 || system(NULL) == 0;
    if (strcmp(how, "popen") == 0) {
        FILE *stream = popen(command, "r");
        return !stream || !fgets(line, sizeof(line), stream) || pclose(stream) != 0 ||
               strcmp(line, "it's sh\n") != 0;
    }
    wordexp_t words;
    const int set = strcmp(what, "set") == 0;
    snprintf(command, sizeof(command), "%s$(%s leaf; echo a)", set ? "${SOME:=thing}" : "", path);
    return wordexp(command, &words, 0) != 0 || words.we_wordc != 1 ||
           strcmp(words.we_wordv[0], set ? "thinga" : "a") != 0 ||
           (set && strcmp(getenv("SOME"), "thing") != 0);
}

static void execute(const char *how)
{
    char *arguments[] = {path, leaf, NULL}, **nothing = NULL;
    if (strcmp(how, "execve") == 0)
        execve(path, arguments, environ);
    else if (strcmp(how, "execve-nothing") == 0)
        execve(path, arguments, nothing);
    else if (strcmp(how, "execv") == 0)
        execv(path, arguments);
    else if (strcmp(how, "execvp") == 0)
        execvp(path, arguments);
    else if (strcmp(how, "execvpe") == 0)
        execvpe(path, arguments, environ);
    else if (strcmp(how, "execl") == 0)
        execl(path, path, leaf, (char *)NULL);
    else if (strcmp(how, "execlp") == 0)
        execlp(path, path, leaf, (char *)NULL);
    else if (strcmp(how, "execle") == 0)
        execle(path, path, leaf, (char *)NULL, environ);
    else if (strcmp(how, "fexecve") == 0)
        fexecve(open(path, O_RDONLY | O_CLOEXEC), arguments, environ);
    else if (strcmp(how, "execveat") == 0)
        execveat(AT_FDCWD, path, arguments, environ, 0);
    else if (strcmp(how, "syscall") == 0)
        syscall(SYS_execve, path, arguments, environ);
    else if (strncmp(how, "raw", 3) == 0) { /* sleeps as long as it says, without any environment */
        char sleeps[] = "/bin/sleep", *words[] = {sleeps, (char *)(uintptr_t)how + 3, NULL};
        long result;
        __asm__ volatile("syscall"
                         : "=a"(result)
                         : "a"(SYS_execve), "D"(sleeps), "S"(words), "d"(words + 2)
                         : "rcx", "r11", "memory");
    }
}

int main(int argc, char **argv, char **envp)
{
    if (argc > 1 && strcmp(argv[1], "leaf") == 0) {
        void *volatile block = malloc(4321);
        free(block);
        return look(environ) || look(envp);
    }
    const char *how = argc > 1 ? argv[1] : "", *what = argc > 2 ? argv[2] : "keep";
    char *arguments[] = {path, leaf, NULL};
    pid_t child = 0;
    int status = 1, shell = strstr("system popen wordexp", how) != NULL;
    if (look(environ) || look(envp) || getenv("MPROF_OUTPUT") ||
        readlink(self, path, sizeof(path) - 1) < 0)
        return 3;
    if (strcmp(what, "clear") == 0)
        clearenv();
    if (strcmp(what, "preload") == 0)
        setenv("LD_PRELOAD", "libc.so.6", 1);
    if (shell)
        status = by_shell(how, what);
    else if (strncmp(how, "posix_spawn", 11) == 0
                 ? (how[11] ? posix_spawnp : posix_spawn)(&child, path, NULL, NULL, arguments,
                                                          environ) == 0
                 : (child = vfork()) >= 0) {
        if (child == 0) {
            execute(how);
            _exit(127);
        }
        status = waitpid(child, &status, 0) != child || status;
    }
    return status || look(environ) ||
           (strcmp(what, "preload") == 0 && strcmp(getenv("LD_PRELOAD"), "libc.so.6") != 0);
}
