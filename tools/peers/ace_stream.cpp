/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ace_stream.cpp - layer parallelism by ACE's streams: a module, and in it a thread, for
 * each of four layers; messages go up from one to the next through ACE's queues.
 *
 * What a layer does is what ours does on the receive half: the lowest takes a block of the
 * pool, writes the headers of a datagram before a payload that is already there, and takes
 * the link's header off; the next verifies the header of IP; the next that of UDP, with the
 * sum over the payload when asked; the highest counts the message and gives the block back.
 * What is not ACE's is made as cheap as can be: blocks come from and go back to a ring of
 * one producer and one consumer, and never see malloc.  Queues hold as many messages as
 * ours (256, and 64 to go on).  Both processors for all threads, time by the wall.
 *
 * Usage: ace-stream BYTES[+sum] MILLISECONDS
 */
#include <ace/Module.h>
#include <ace/Stream.h>
#include <ace/Task.h>
#include <ace/Thread_Manager.h>

#include <arpa/inet.h>
#include <atomic>
#include <sched.h>
#include <stdint.h>
#include <vector>

#include "peer.h"

enum { LINK = 21, IP = 20, UDP = 8, HEADERS = LINK + IP + UDP, HIGH = 256, LOW = 64, POOL = 2048 };

typedef ACE_Task<ACE_MT_SYNCH> Task;
typedef ACE_Module<ACE_MT_SYNCH> Module;
typedef ACE_Stream<ACE_MT_SYNCH> Stream;

static std::atomic<bool> built, stopping;
static std::atomic<uint64_t> received;
static size_t payload = 4096;
static bool summing;
static uint8_t headers[HEADERS];

/* ---- blocks ------------------------------------------------------------------------- */

static ACE_Message_Block *ring[POOL];
alignas(64) static std::atomic<uint32_t> given;
alignas(64) static std::atomic<uint32_t> taken;

/* By the highest layer. */
static void give_back(ACE_Message_Block *b)
{
	uint32_t at = given.load(std::memory_order_relaxed);

	ring[at % POOL] = b;
	given.store(at + 1, std::memory_order_release);
}

/* By the lowest; nullptr: all are on their way. */
static ACE_Message_Block *take(void)
{
	uint32_t at = taken.load(std::memory_order_relaxed);

	if (given.load(std::memory_order_acquire) == at)
		return nullptr;
	taken.store(at + 1, std::memory_order_relaxed);
	return ring[at % POOL];
}

/* ---- what layers do ------------------------------------------------------------------- */

static uint16_t sum16(const uint8_t *p, size_t n)
{
	uint64_t sum = 0, low = 0, high = 0;
	uint64_t word;
	size_t i = 0;

	/* Halves of words, each in a lane of its own: compilers make vectors of it. */
	for (; i + 8 <= n; i += 8) {
		memcpy(&word, p + i, 8);
		low += (uint32_t)word;
		high += word >> 32;
	}
	sum = low + high;
	for (; i + 2 <= n; i += 2)
		sum += (uint64_t)(p[i] | p[i + 1] << 8);
	if (i < n)
		sum += p[i];
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static void make_headers(void)
{
	uint8_t *ip = headers + LINK, *udp = ip + IP;
	size_t total = IP + UDP + payload;
	uint16_t sum;

	ip[0] = 0x45;
	ip[2] = (uint8_t)(total >> 8);
	ip[3] = (uint8_t)total;
	ip[8] = 64;
	ip[9] = 17;
	ip[12] = ip[16] = 10;
	ip[15] = 2;
	ip[19] = 1;
	sum = (uint16_t)~sum16(ip, IP);
	memcpy(ip + 10, &sum, 2);
	udp[3] = 9;
	udp[4] = (uint8_t)((UDP + payload) >> 8);
	udp[5] = (uint8_t)(UDP + payload);
	udp[6] = udp[7] = 1;
}

static void broken(const char *what)
{
	fprintf(stderr, "ace-stream: %s\n", what);
	_exit(1);
}

/* A layer above the lowest: from its own queue, in its own thread. */
class Layer : public Task {
public:
	int open(void *) override
	{
		msg_queue()->high_water_mark(HIGH * payload);
		msg_queue()->low_water_mark(LOW * payload);
		return activate(THR_NEW_LWP | THR_JOINABLE, 1);
	}
	int put(ACE_Message_Block *b, ACE_Time_Value *t) override { return putq(b, t); }
	int close(unsigned long) override { return 0; }
	/* The queue is closed, the thread ends; false: it was not needed. */
	int svc(void) override
	{
		ACE_Message_Block *b;

		while (getq(b) != -1)
			if (!work(b))
				break;
		return 0;
	}
	virtual bool work(ACE_Message_Block *b) = 0;
	bool up(ACE_Message_Block *b) { return put_next(b) != -1; }
};

class Device : public Layer {
public:
	int svc(void) override
	{
		while (!built.load())            /* what is above is pushed after this one */
			sched_yield();
		while (!stopping.load(std::memory_order_relaxed)) {
			ACE_Message_Block *b = take();

			if (b == nullptr)
				sched_yield();
			else if (!work(b))
				break;
		}
		return 0;
	}
	bool work(ACE_Message_Block *b) override
	{
		b->reset();
		memcpy(b->wr_ptr(), headers, HEADERS);
		b->wr_ptr(HEADERS + payload);
		b->rd_ptr(LINK);
		return up(b);
	}
};

class Network : public Layer {
public:
	bool work(ACE_Message_Block *b) override
	{
		const uint8_t *p = reinterpret_cast<const uint8_t *>(b->rd_ptr());

		if (p[0] != 0x45 || (size_t)(p[2] << 8 | p[3]) != b->length() || sum16(p, IP) != 0xffff)
			broken("a bad header of IP");
		b->rd_ptr(IP);
		return up(b);
	}
};

class Transport : public Layer {
	volatile uint16_t seen = 0;      /* computed, the verdict ignored: as ours does */
public:
	bool work(ACE_Message_Block *b) override
	{
		const uint8_t *p = reinterpret_cast<const uint8_t *>(b->rd_ptr());

		if ((size_t)(p[4] << 8 | p[5]) != b->length() || p[3] != 9)
			broken("a bad header of UDP");
		if (summing)
			seen = sum16(p, b->length());
		b->rd_ptr(UDP);
		return up(b);
	}
};

class Application : public Layer {
public:
	bool work(ACE_Message_Block *b) override
	{
		received.store(received.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
		give_back(b);
		return true;
	}
};

/* ---- all of it --------------------------------------------------------------------------- */

static double wall(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void pause_ms(double ms)
{
	struct timespec t = { (time_t)(ms / 1e3), (long)((ms - (double)(time_t)(ms / 1e3) * 1e3) * 1e6) };

	nanosleep(&t, nullptr);
}

/* The first two processors allowed. */
static void two_processors(void)
{
	cpu_set_t all, two;

	CPU_ZERO(&two);
	sched_getaffinity(0, sizeof all, &all);
	for (int i = 0, n = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET(i, &all)) {
			CPU_SET(i, &two);
			n++;
		}
	sched_setaffinity(0, sizeof two, &two);
}

static ACE_Module<ACE_MT_SYNCH> *module(const ACE_TCHAR *name, Layer *reader)
{
	return new Module(name, new ACE_Thru_Task<ACE_MT_SYNCH>, reader, nullptr, Module::M_DELETE_WRITER);
}

int main(int argc, char **argv)
{
	double ms = argc > 2 ? atof(argv[2]) : 300, from, ns;
	Device device;
	Network network;
	Transport transport;
	Application application;
	Layer *layers[] = { &device, &network, &transport, &application };
	Stream stream;
	uint64_t before, n;
	char name[40];

	if (argc > 1) {
		payload = (size_t)atoi(argv[1]);
		summing = strstr(argv[1], "+sum") != nullptr;
	}
	if (payload == 0 || payload > 65000)
		return 2;
	two_processors();
	make_headers();
	for (unsigned i = 0; i < POOL; i++)
		give_back(new ACE_Message_Block(HEADERS + payload));
	if (stream.push(module("device", &device)) == -1 || stream.push(module("network", &network)) == -1 ||
	    stream.push(module("transport", &transport)) == -1 || stream.push(module("application", &application)) == -1) {
		perror("ace-stream: push");
		return 1;
	}
	built.store(true);
	pause_ms(ms / 4);
	before = received.load();
	from = wall();
	pause_ms(ms);
	n = received.load() - before;
	ns = wall() - from;
	snprintf(name, sizeof name, "layers-%zu%s", payload, summing ? "+sum" : "");
	if (n != 0)
		printf("{\"peer\":\"ace\",\"workload\":\"%s\",\"ns\":%.4f,\"rate\":%.1f,\"cpu_ns\":%.4f}\n", name,
		       ns / (double)n, (double)n * 1e9 / ns, peer_now() / (double)received.load());
	fflush(stdout);
	stopping.store(true);
	for (Layer *l : layers)
		l->msg_queue()->deactivate();
	_exit(n != 0 ? 0 : 1);
}
