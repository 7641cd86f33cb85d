/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/misbehave.h"

#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/records.h"
#include "agent/wire.h"

#define PIECE_PAUSE_NS 200000

/* The next number of a splitmix64 stream. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static bool asked(const struct conf *conf, const char *key)
{
	return !strcmp(conf_get(conf, key, "0"), "1");
}

void misbehave_init(struct misbehave *misbehave, const struct conf *conf)
{
	*misbehave = (struct misbehave){
		.power_off = asked(conf, "fault.power-off"),
		.panic = asked(conf, "fault.panic"),
		.hang = asked(conf, "fault.hang"),
		.die = asked(conf, "fault.die"),
		.drop_bytes = asked(conf, "fault.drop-bytes"),
		.split_lines = asked(conf, "fault.split-lines"),
		.seed = conf_get_count(conf, "fault.seed", 0),
	};
}

bool misbehave_before_hello(const struct misbehave *misbehave, int fd)
{
	static const char panic[] =
		"[    0.512345] Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b\n"
		"[    0.512399] CPU: 0 PID: 1 Comm: init Not tainted\n"
		"[    0.512460] ---[ end Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b ]---\n";

	if (misbehave->panic)
		records_write(fd, panic, sizeof(panic) - 1);
	return misbehave->power_off || misbehave->panic;
}

void misbehave_after_hello(const struct misbehave *misbehave, int fd)
{
	struct pollfd other_side = { .fd = fd, .events = 0 };

	while (misbehave->hang) {
		if (poll(&other_side, 1, -1) > 0)
			_exit(1);
	}
}

static bool write_pieces(const struct misbehave *misbehave, int fd, const char *data, size_t len, size_t cut)
{
	if (!misbehave->split_lines)
		return records_write(fd, data, len);
	return records_write(fd, data, cut) && !nanosleep(&(struct timespec){ .tv_nsec = PIECE_PAUSE_NS }, NULL) &&
	       records_write(fd, data + cut, len - cut);
}

bool misbehave_write(const struct misbehave *misbehave, int fd, const char *line, size_t len, uint32_t seq, int copy)
{
	uint64_t state = misbehave->seed ^ (uint64_t)seq << 32;
	uint64_t victim = next_random(&state) % 3; /* 0 and 1: this copy is damaged, 2: none */
	size_t at = (size_t)(next_random(&state) % len);
	char bad[WIRE_LINE_MAX + 1];

	if (misbehave->die && copy == 0 && seq == 3) {
		records_write(fd, line, len / 2);
		_exit(1);
	}
	if ((misbehave->drop_bytes || misbehave->split_lines) && victim == (uint64_t)copy) {
		memcpy(bad, line, at);
		if (misbehave->drop_bytes) {
			memcpy(bad + at, line + at + 1, len - at - 1);
			len--;
		} else {
			bad[at] = '\n';
			memcpy(bad + at + 1, line + at, len - at);
			len++;
		}
		line = bad;
	}
	return write_pieces(misbehave, fd, line, len, at);
}
