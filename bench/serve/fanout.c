/* Clients that wait for one event, and the raw server they are compared with.
 *   fanout serve BYTES              listens at a free port of 127.0.0.1, which it prints; for each line on
 *                                   standard input it writes one message of so many bytes to every client
 *   fanout clients PORT N [TOKEN]   connects N clients, as sockets of Aye if there is a token; prints `ready`;
 *                                   for each line on standard input it waits until every client has one more
 *                                   event, and prints the microseconds from the first client to the last
 * Events are told from other messages by MARK. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MARK "confirmation_answered"

static void fail(const char *doing) { perror(doing); exit(1); }

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1e6 + at.tv_nsec / 1e3;
}

static struct sockaddr_in place(int port) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return to;
}

static int line(void) {
  char byte;
  ssize_t got;
  while ((got = read(0, &byte, 1)) == 1 && byte != '\n') {}
  return got == 1;
}

static int serve(int bytes) {
  int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in at = place(0);
  socklen_t size = sizeof at;
  if (bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 8192)) fail("listen");
  getsockname(listener, (struct sockaddr *)&at, &size);
  printf("%d\n", ntohs(at.sin_port));
  fflush(stdout);
  int *clients = malloc(sizeof(int) * 65536), count = 0;
  char *message = malloc(bytes);
  memset(message, 'x', bytes);
  memcpy(message, MARK, strlen(MARK));
  for (;;) {
    struct pollfd both[] = {{listener, POLLIN, 0}, {0, POLLIN, 0}};
    if (poll(both, 2, -1) < 0) fail("poll");
    if (both[0].revents) {
      int client = accept(listener, 0, 0);
      if (client < 0) fail("accept");
      setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
      clients[count++] = client;
    } else if (both[1].revents) {
      if (!line()) return 0;
      for (int i = 0; i < count; i++)
        if (write(clients[i], message, bytes) != bytes) fail("write");
    }
  }
}

static int enter(int port, const char *token) {
  int client = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in to = place(port);
  if (client < 0 || connect(client, (struct sockaddr *)&to, sizeof to)) fail("connect");
  if (!token) return client;
  char head[1024];
  int length = snprintf(head, sizeof head,
      "GET /ws HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
      "Authorization: Bearer %s\r\n\r\n", port, token);
  if (write(client, head, length) != length) fail("write");
  return client;
}

/* Says that every client is there: the server drops who says nothing for a minute. */
static void alive(const int *clients, int count) {
  static const unsigned char pong[] = {0x8a, 0x80, 0, 0, 0, 0};
  for (int i = 0; i < count; i++)
    if (send(clients[i], pong, sizeof pong, MSG_NOSIGNAL) != sizeof pong) fail("send");
}

int main(int argc, char **argv) {
  struct rlimit most;
  getrlimit(RLIMIT_NOFILE, &most);
  most.rlim_cur = most.rlim_max;
  setrlimit(RLIMIT_NOFILE, &most);
  if (argc == 3 && !strcmp(argv[1], "serve")) return serve(atoi(argv[2]));
  if (argc < 4 || strcmp(argv[1], "clients")) return 2;
  int port = atoi(argv[2]), count = atoi(argv[3]), events = epoll_create1(0);
  const char *token = argc > 4 ? argv[4] : NULL;
  int *round_of = calloc(65536, sizeof(int)), *clients = calloc(count, sizeof(int));
  static char bytes[1 << 20];
  for (int i = 0; i < count; i++) {
    int client = clients[i] = enter(port, token);
    if (token && i % 200 == 199) alive(clients, i);
    struct epoll_event wanted = {EPOLLIN, {.fd = client}};
    epoll_ctl(events, EPOLL_CTL_ADD, client, &wanted);
    if (!token) continue;
    /* The snapshot: each is taken before the next client comes. */
    size_t heard = 0;
    while (!memmem(bytes, heard, "\"type\":\"snapshot\"", 17)) {
      ssize_t got = recv(client, bytes + heard, sizeof bytes - heard, 0);
      if (got <= 0) fail("snapshot");
      heard += got;
    }
  }
  printf("ready\n");
  fflush(stdout);
  struct epoll_event ready[512];
  for (int round = 1;; round++) {
    double first = 0, last = 0;
    int missing = count;
    while (missing > 0) {
      int found = epoll_wait(events, ready, 512, 1000);
      if (found < 0 && errno != EINTR) fail("wait");
      for (int i = 0; i < found; i++) {
        int client = ready[i].data.fd;
        ssize_t got = recv(client, bytes, sizeof bytes, MSG_DONTWAIT);
        if (got == 0) { fprintf(stderr, "a client was dropped\n"); return 1; }
        if (got < 0 || round_of[client] == round || !memmem(bytes, got, MARK, strlen(MARK))) continue;
        round_of[client] = round;
        last = now();
        if (first == 0) first = last;
        missing--;
      }
    }
    printf("%.0f\n", last - first);
    fflush(stdout);
    if (token) alive(clients, count);
    if (!line()) return 0;
  }
}
