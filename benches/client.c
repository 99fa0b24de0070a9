// Measures one way of running a command beside a bare spawn of bash, in one process, round by round in random order.
//
//   client calls  ROUNDS WARM_UP FLOOR_TEXT WAY...   one call a round
//   client burst  ROUNDS COUNT   FLOOR_TEXT WAY...   COUNT calls at once a round; the way is a server
//   client starts ROUNDS WARM_UP FLOOR_TEXT WAY...   a server from its start until it has listed its tools
//
// WAY: spawn TEXT                        bash again, as a control
//      program PROGRAM ARGUMENT...       a process for each call
//      judge PROGRAM ARGUMENT...         the same, which may end with the exit codes of `shellgate check`
//      server METHOD PARAMS PROGRAM ...  a server on standard input and output; a call is METHOD with PARAMS (JSON)
//
// Prints a line a round: microseconds of the bare spawn, a tab, microseconds of the way. A call that fails ends it with exit
// code 1: nothing is measured that didn't work.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { MAX_COUNT = 4096, PIPE_BYTES = 1 << 20, LINE_BYTES = 8 << 20, LEAVE_MS = 3000 };

// A server that runs, and what it has sent so far.
struct server {
    pid_t pid;
    int requests, answers;
    long last_id;
    char *buffer;
    size_t start, end;
};

struct way {
    char **words; // its kind first
    struct server server;
};

static void fail(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    exit(1);
}

static double now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static void nap_ms(long ms) {
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

// Starts a process whose output goes to the descriptor that is returned.
static pid_t start(char **words, int *output) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) fail("pipe: %s", strerror(errno));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    pid_t pid;
    int error = posix_spawn(&pid, words[0], &actions, NULL, words, environ);
    if (error) fail("%s: %s", words[0], strerror(error));
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *output = ends[0];
    return pid;
}

// Exit codes of `shellgate check`.
static int is_verdict(int status) {
    return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 10 || WEXITSTATUS(status) == 20);
}

// Reads the output to its end and waits for the process: its status. `shown` is for a message.
static int wait_for(pid_t pid, int output, char *shown, size_t shown_bytes) {
    static char bytes[1 << 16];
    size_t kept = 0;
    ssize_t count;
    shown[0] = 0;
    while ((count = read(output, bytes, sizeof bytes)) > 0) {
        size_t room = shown_bytes - 1 - kept, more = (size_t)count < room ? (size_t)count : room;
        memcpy(shown + kept, bytes, more);
        shown[kept += more] = 0;
    }
    close(output);
    int status;
    waitpid(pid, &status, 0);
    return status;
}

static void finish(pid_t pid, int output, const char *name) {
    char shown[512];
    int status = wait_for(pid, output, shown, sizeof shown);
    if (status) fail("%s: status %x: %s", name, status, shown);
}

static pid_t start_bash(const char *text, int *output) {
    char *words[] = {"/bin/bash", "-c", (char *)text, NULL};
    return start(words, output);
}

static void run_program(char **words) {
    int output;
    pid_t pid = start(words, &output);
    finish(pid, output, words[0]);
}

static void run_judge(char **words) {
    int output;
    char shown[512];
    pid_t pid = start(words, &output);
    int status = wait_for(pid, output, shown, sizeof shown);
    if (!is_verdict(status)) fail("%s: status %x: %s", words[0], status, shown);
}

static void run_bash(const char *text) {
    int output;
    pid_t pid = start_bash(text, &output);
    finish(pid, output, text);
}

static void send_line(struct server *server, const char *text) {
    size_t left = strlen(text);
    while (left) {
        ssize_t count = write(server->requests, text, left);
        if (count <= 0) fail("the server takes no request: %s", strerror(errno));
        text += count;
        left -= count;
    }
}

// The next line that the server sends, without its end.
static char *next_line(struct server *server) {
    size_t seen = server->start;
    for (;;) {
        char *line_end = memchr(server->buffer + seen, '\n', server->end - seen);
        if (line_end) {
            char *line = server->buffer + server->start;
            *line_end = 0;
            server->start = line_end + 1 - server->buffer;
            return line;
        }
        memmove(server->buffer, server->buffer + server->start, server->end - server->start);
        server->end -= server->start;
        server->start = 0;
        seen = server->end;
        if (server->end == LINE_BYTES) fail("an answer is too long");
        ssize_t count = read(server->answers, server->buffer + server->end, LINE_BYTES - server->end);
        if (count <= 0) fail("the server has ended");
        server->end += count;
    }
}

// Whether the line has `"id":NUMBER`. Ids of ours are numbers, ids inside of results are strings.
static int answers_to(const char *line, long id) {
    char wanted[40];
    int length = snprintf(wanted, sizeof wanted, "\"id\":%ld", id);
    const char *found = strstr(line, wanted);
    return found && !(found[length] >= '0' && found[length] <= '9');
}

static void check_answer(const char *line) {
    // Codex says only by its exit code that a command failed.
    const char *code = strstr(line, "\"exitCode\":");
    if (strstr(line, "\"isError\":true") || strstr(line, "\"error\":{\"code\":") || (code && code[11] != '0'))
        fail("the server answers: %.600s", line);
}

// Waits for the answer to a request; other messages are skipped.
static void hear(struct server *server, long id) {
    char *line;
    do line = next_line(server);
    while (!answers_to(line, id));
    check_answer(line);
}

static long ask(struct server *server, const char *method, const char *params) {
    static char message[1 << 16];
    long id = ++server->last_id;
    int length = snprintf(message, sizeof message,
                          "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"method\":\"%s\",\"params\":%s}\n", id, method, params);
    if (length >= (int)sizeof message) fail("a request is too long");
    send_line(server, message);
    return id;
}

static void start_server(struct server *server, char **words) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) fail("pipe: %s", strerror(errno));
    // Hundreds of requests and answers fit, so that neither side waits for the other.
    fcntl(in[1], F_SETPIPE_SZ, PIPE_BYTES);
    fcntl(out[1], F_SETPIPE_SZ, PIPE_BYTES);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    int error = posix_spawn(&server->pid, words[0], &actions, NULL, words, environ);
    if (error) fail("%s: %s", words[0], strerror(error));
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    server->requests = in[1];
    server->answers = out[0];
    server->last_id = 0;
    server->start = server->end = 0;
    if (!server->buffer && !(server->buffer = malloc(LINE_BYTES))) fail("no memory");
    hear(server, ask(server, "initialize",
                     "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"
                     "\"clientInfo\":{\"name\":\"bench\",\"version\":\"0\"}}"));
    send_line(server, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
}

// The end of its input ends a server; one that stays is killed.
static void end_server(struct server *server) {
    close(server->requests);
    int status;
    for (long waited = 0; waitpid(server->pid, &status, WNOHANG) == 0; waited++) {
        if (waited == LEAVE_MS) kill(server->pid, SIGKILL);
        nap_ms(1);
    }
    close(server->answers);
}

static int is(const struct way *way, const char *kind) { return !strcmp(way->words[0], kind); }

static void call(struct way *way) {
    if (is(way, "spawn")) run_bash(way->words[1]);
    else if (is(way, "program")) run_program(way->words + 1);
    else if (is(way, "judge")) run_judge(way->words + 1);
    else hear(&way->server, ask(&way->server, way->words[1], way->words[2]));
}

static void burst_of_bash(const char *text, int count) {
    static pid_t pids[MAX_COUNT];
    static int outputs[MAX_COUNT];
    for (int i = 0; i < count; i++) pids[i] = start_bash(text, &outputs[i]);
    for (int i = 0; i < count; i++) finish(pids[i], outputs[i], text);
}

static void burst_of_calls(struct way *way, int count) {
    struct server *server = &way->server;
    long first = server->last_id + 1;
    for (int i = 0; i < count; i++) ask(server, way->words[1], way->words[2]);
    for (int left = count; left;) {
        char *line = next_line(server), *id = strstr(line, "\"id\":");
        if (!id || strtol(id + 5, NULL, 10) < first) continue;
        check_answer(line);
        left--;
    }
}

static double timed_floor(const char *text, int count) {
    double start_us = now_us();
    if (count > 1) burst_of_bash(text, count);
    else run_bash(text);
    return now_us() - start_us;
}

static double timed_start(struct way *way) {
    double start_us = now_us();
    start_server(&way->server, way->words + 3);
    hear(&way->server, ask(&way->server, "tools/list", "{}"));
    double took = now_us() - start_us;
    end_server(&way->server);
    return took;
}

static double timed_call(struct way *way, int count) {
    double start_us = now_us();
    if (count > 1) burst_of_calls(way, count);
    else call(way);
    return now_us() - start_us;
}

int main(int length, char **words) {
    if (length < 7) fail("usage: see the top of client.c");
    const char *floor_text = words[4];
    int is_start = !strcmp(words[1], "starts"), is_burst = !strcmp(words[1], "burst");
    int rounds = atoi(words[2]), number = atoi(words[3]);
    int count = is_burst ? number : 1, warm_up = is_burst ? 1 : number;
    if (rounds < 1 || count < 1 || count > MAX_COUNT) fail("unusable numbers");
    struct way way = {.words = words + 5};
    int is_server = is(&way, "server");
    if (is_server ? length < 9 : is_start || is_burst) fail("usage: see the top of client.c");
    if (is_server && !is_start) start_server(&way.server, way.words + 3);
    unsigned seed = 12345;
    for (int round = -warm_up; round < rounds; round++) {
        double floor_us = 0, way_us = 0;
        int is_floor_first = rand_r(&seed) >> 4 & 1;
        if (is_floor_first) floor_us = timed_floor(floor_text, count);
        way_us = is_start ? timed_start(&way) : timed_call(&way, count);
        if (!is_floor_first) floor_us = timed_floor(floor_text, count);
        if (round >= 0) printf("%.1f\t%.1f\n", floor_us, way_us);
    }
    if (is_server && !is_start) end_server(&way.server);
    return 0;
}
