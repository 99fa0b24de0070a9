// The least that an MCP server can cost: it reads a request, starts `bash -c`, and answers with the output. It judges,
// records and confines nothing, and reads JSON only as well as client.c writes it. Calls run at the same time.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MAX_CALLS = 4096, MAX_KEPT_BYTES = 1 << 20, INPUT_BYTES = 1 << 20 };

struct call {
    pid_t pid;
    int output;
    long id;
    char *kept;
    size_t kept_bytes;
};

static struct call calls[MAX_CALLS];
static int running;

static void answer(const char *text, size_t left) {
    while (left) {
        ssize_t count = write(1, text, left);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) exit(1);
        text += count;
        left -= count;
    }
}

static void answer_result(long id, const char *result) {
    char text[512];
    answer(text, snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":%s}\n", id, result));
}

static void start(long id, char *command) {
    int ends[2];
    if (running == MAX_CALLS || pipe2(ends, O_CLOEXEC)) exit(1);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    char *words[] = {"bash", "-c", command, NULL};
    struct call *call = &calls[running++];
    memset(call, 0, sizeof *call);
    call->id = id;
    call->output = ends[0];
    if (posix_spawn(&call->pid, "/bin/bash", &actions, NULL, words, environ)) exit(1);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
}

static void finish(struct call *call) {
    int status;
    waitpid(call->pid, &status, 0);
    close(call->output);
    char *text = malloc(call->kept_bytes * 6 + 256);
    if (!text) exit(1);
    size_t length = sprintf(text, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"isError\":%s,\"content\":"
                            "[{\"type\":\"text\",\"text\":\"", call->id, status ? "true" : "false");
    for (size_t i = 0; i < call->kept_bytes; i++) {
        unsigned char byte = call->kept[i];
        if (byte < 32 || byte > 126 || byte == '"' || byte == '\\') length += sprintf(text + length, "\\u%04x", byte);
        else text[length++] = byte;
    }
    length += sprintf(text + length, "\"}]}}\n");
    answer(text, length);
    free(text);
    free(call->kept);
    *call = calls[--running];
}

static void read_output(struct call *call) {
    static char bytes[1 << 16];
    ssize_t count = read(call->output, bytes, sizeof bytes);
    if (count <= 0) {
        finish(call);
        return;
    }
    size_t room = MAX_KEPT_BYTES - call->kept_bytes, more = (size_t)count < room ? (size_t)count : room;
    if (!more) return;
    call->kept = realloc(call->kept, call->kept_bytes + more);
    if (!call->kept) exit(1);
    memcpy(call->kept + call->kept_bytes, bytes, more);
    call->kept_bytes += more;
}

static void handle(char *line) {
    char *id = strstr(line, "\"id\":"), *command = strstr(line, "\"command\":\"");
    if (!id) return;
    long number = strtol(id + 5, NULL, 10);
    if (strstr(line, "\"tools/call\"") && command) {
        command += strlen("\"command\":\"");
        char *end = strchr(command, '"');
        if (!end) exit(1);
        *end = 0;
        start(number, command);
    } else if (strstr(line, "\"tools/list\"")) {
        answer_result(number, "{\"tools\":[{\"name\":\"shell\",\"inputSchema\":{\"type\":\"object\"}}]}");
    } else {
        answer_result(number, "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},"
                              "\"serverInfo\":{\"name\":\"floor\",\"version\":\"0\"}}");
    }
}

// Reads requests; false at the end of the input.
static int read_requests(void) {
    static char input[INPUT_BYTES];
    static size_t held;
    ssize_t count = read(0, input + held, sizeof input - 1 - held);
    if (count <= 0) return 0;
    held += count;
    input[held] = 0;
    char *line = input, *end;
    while ((end = strchr(line, '\n'))) {
        *end = 0;
        handle(line);
        line = end + 1;
    }
    held = strlen(line);
    memmove(input, line, held + 1);
    return 1;
}

int main(void) {
    static struct pollfd polled[MAX_CALLS + 1];
    for (;;) {
        int count = running;
        polled[count] = (struct pollfd){.fd = 0, .events = POLLIN};
        for (int i = 0; i < count; i++) polled[i] = (struct pollfd){.fd = calls[i].output, .events = POLLIN};
        if (poll(polled, count + 1, -1) < 0) continue;
        // From the end: a call that finishes is replaced by the last one, which has been looked at.
        for (int i = count - 1; i >= 0; i--)
            if (polled[i].revents) read_output(&calls[i]);
        if (polled[count].revents && !read_requests()) return 0;
    }
}
