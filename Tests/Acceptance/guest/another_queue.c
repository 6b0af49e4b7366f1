// A queue of another program: starts it, prints a line, and keeps it running until it is killed.
//
//     another_queue HERTZ [CLIENT PORT PERIODS]
//
// With an address, the queue also sends a Timing Clock there after every so many periods of its timer, each due exactly
// when a period ends. So how late they arrive is how late the kernel was with the timer's interrupt.
#include <fcntl.h>
#include <sound/asequencer.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void require(int done, const char *step) {
    if (done) return;
    perror(step);
    exit(1);
}

int main(int count, char **words) {
    int hertz = count == 2 || count == 5 ? atoi(words[1]) : 0;
    require(hertz > 0, "another_queue HERTZ [CLIENT PORT PERIODS]");
    int sequencer = open("/dev/snd/seq", O_WRONLY | O_CLOEXEC);
    require(sequencer >= 0, "/dev/snd/seq");
    struct snd_seq_queue_info queue = {.name = "another"};
    require(ioctl(sequencer, SNDRV_SEQ_IOCTL_CREATE_QUEUE, &queue) >= 0, "CREATE_QUEUE");
    struct snd_seq_queue_timer timer = {.queue = queue.queue, .type = SNDRV_SEQ_TIMER_ALSA};
    timer.u.alsa.id.dev_class = SNDRV_TIMER_CLASS_GLOBAL;
    timer.u.alsa.id.card = -1;
    timer.u.alsa.id.device = SNDRV_TIMER_GLOBAL_HRTIMER;
    timer.u.alsa.resolution = hertz;
    require(ioctl(sequencer, SNDRV_SEQ_IOCTL_SET_QUEUE_TIMER, &timer) >= 0, "SET_QUEUE_TIMER");
    struct snd_seq_event start = {
        .type = SNDRV_SEQ_EVENT_START,
        .queue = SNDRV_SEQ_QUEUE_DIRECT,
        .dest = {SNDRV_SEQ_CLIENT_SYSTEM, SNDRV_SEQ_PORT_SYSTEM_TIMER},
    };
    start.data.queue.queue = queue.queue;
    require(write(sequencer, &start, sizeof start) == sizeof start, "START");
    puts("running");
    fflush(stdout);
    if (count == 2)
        for (;;) pause();
    // A virtual MIDI port passes on nothing as long as no port is connected to it.
    struct snd_seq_port_info port = {
        .name = "another",
        .capability = SNDRV_SEQ_PORT_CAP_READ | SNDRV_SEQ_PORT_CAP_SUBS_READ,
        .type = SNDRV_SEQ_PORT_TYPE_APPLICATION,
    };
    int client;
    require(ioctl(sequencer, SNDRV_SEQ_IOCTL_CLIENT_ID, &client) >= 0, "CLIENT_ID");
    port.addr.client = client;
    require(ioctl(sequencer, SNDRV_SEQ_IOCTL_CREATE_PORT, &port) >= 0, "CREATE_PORT");
    struct snd_seq_port_subscribe connection = {.sender = port.addr, .dest = {atoi(words[2]), atoi(words[3])}};
    require(ioctl(sequencer, SNDRV_SEQ_IOCTL_SUBSCRIBE_PORT, &connection) >= 0, "SUBSCRIBE_PORT");
    struct snd_seq_event clock = {
        .type = SNDRV_SEQ_EVENT_CLOCK,
        .flags = SNDRV_SEQ_TIME_STAMP_REAL | SNDRV_SEQ_TIME_MODE_ABS,
        .queue = queue.queue,
        .source = port.addr,
        .dest = connection.dest,
    };
    long long interval = 1000000000LL / hertz * atoi(words[4]);
    // Writing waits while the kernel holds as many events as it takes, so the program is always some time ahead.
    for (long long due = interval;; due += interval) {
        clock.time.time.tv_sec = due / 1000000000;
        clock.time.time.tv_nsec = due % 1000000000;
        require(write(sequencer, &clock, sizeof clock) == sizeof clock, "CLOCK");
    }
}
