// SPDX-License-Identifier: BSD-2-Clause
//
// talk.cpp - a graph and its sockets in C++17: objects that free what they hold, threads of the standard library.
//
// Datagrams go from one host of the graph to the other and back.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <xk/graph.h>
#include <xk/sock.h>

struct graph_free { void operator()(xk_embed *g) const { xk_embed_free(g); } };
using graph = std::unique_ptr<xk_embed, graph_free>;

static int checked(long long result)
{
	if (result < 0)
		throw std::runtime_error(xk_strerror(static_cast<int>(result)));
	return static_cast<int>(result);
}

class datagrams {
public:
	datagrams(xk_embed *g, const char *node) : fd(checked(xk_sock_socket(xk_embed_find(g, node), XK_SOCK_DGRAM))) {}
	~datagrams() { xk_sock_close(fd); }
	datagrams(const datagrams &) = delete;
	datagrams &operator=(const datagrams &) = delete;

	void bind(uint16_t port)
	{
		xk_sock_addr a{XK_SOCK_ANY, port};
		checked(xk_sock_bind(fd, &a));
	}
	void send(const std::string &text, const xk_sock_addr &to)
	{
		checked(xk_sock_sendto(fd, text.data(), text.size(), 0, &to));
	}
	std::string receive(xk_sock_addr &from)
	{
		char buf[2048];
		int n = checked(xk_sock_recvfrom(fd, buf, sizeof buf, 0, &from));
		return std::string(buf, static_cast<size_t>(n));
	}

private:
	int fd;
};

static graph start(const std::string &text)
{
	graph g(xk_embed_new(nullptr));

	if (!g)
		throw std::bad_alloc();
	if (xk_embed_load_text(g.get(), "talk", text.data(), text.size(), nullptr, 0) != XK_OK ||
	    xk_embed_start(g.get()) != XK_OK)
		throw std::runtime_error(xk_embed_errors(g.get()));
	return g;
}

static const char *const hosts = R"(
local function host(addr)
  return stack { udp {}, ip { addr = addr }, arp {}, eth {}, eth_mem { wire = "cable" } }
end
sock { name = "client", over = host "10.0.0.1/24" }
sock { name = "server", over = host "10.0.0.2/24" }
return graph "talk" { threading = vppc { vps = 2 } }
)";

int main()
try {
	graph g = start(hosts);
	datagrams client(g.get(), "client"), server(g.get(), "server");

	server.bind(7);
	std::thread answers([&server] {
		xk_sock_addr from;
		for (int i = 0; i < 3; i++)
			server.send("you said " + server.receive(from), from);
	});
	for (const char *word : {"one", "two", "three"}) {
		xk_sock_addr from;
		client.send(word, {0x0a000002, 7});
		std::printf("%s\n", client.receive(from).c_str());
	}
	answers.join();
	return 0;
} catch (const std::exception &e) {
	std::fprintf(stderr, "talk: %s\n", e.what());
	return 1;
}
