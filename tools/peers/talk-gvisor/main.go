// SPDX-License-Identifier: BSD-2-Clause

// talk-gvisor: the conversation of tests/interop/talk.h over gVisor's network stack and a TAP device that is there already.
//
//	talk-gvisor -i IFNAME -a ADDR/LEN call HOST PORT SIZE... | serve PORT
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
	"gvisor.dev/gvisor/pkg/tcpip/link/fdbased"
	"gvisor.dev/gvisor/pkg/tcpip/network/arp"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/icmp"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
)

const (
	nic   = 1
	piece = 65536
)

// ---- the stream: word i of the stream of n bytes

func word(n, i uint64) uint64 {
	z := (n+1)*0xd1342543de82ef95 + (i+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func at(n, k uint64) byte { return byte(word(n, k/8) >> (8 * (k % 8))) }

func fill(b []byte, n, from uint64) {
	for i := range b {
		b[i] = at(n, from+uint64(i))
	}
}

// ---- the stack

func openTap(name string) (int, error) {
	fd, err := syscall.Open("/dev/net/tun", syscall.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	var ifr [40]byte
	copy(ifr[:15], name)
	*(*uint16)(unsafe.Pointer(&ifr[16])) = syscall.IFF_TAP | syscall.IFF_NO_PI
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.TUNSETIFF, uintptr(unsafe.Pointer(&ifr[0]))); e != 0 {
		return -1, e
	}
	return fd, nil
}

func up(ifname string, own netip.Prefix) (*stack.Stack, error) {
	fd, err := openTap(ifname)
	if err != nil {
		return nil, err
	}
	s := stack.New(stack.Options{
		NetworkProtocols:   []stack.NetworkProtocolFactory{ipv4.NewProtocol, arp.NewProtocol},
		TransportProtocols: []stack.TransportProtocolFactory{tcp.NewProtocol, icmp.NewProtocol4},
	})
	link, err := fdbased.New(&fdbased.Options{
		FDs: []int{fd}, MTU: 1500, EthernetHeader: true, Address: tcpip.LinkAddress("\x02\x00\x00\x00\x00\x03"),
	})
	if err != nil {
		return nil, err
	}
	if e := s.CreateNIC(nic, link); e != nil {
		return nil, errors.New(e.String())
	}
	a := tcpip.ProtocolAddress{Protocol: ipv4.ProtocolNumber, AddressWithPrefix: tcpip.AddressWithPrefix{
		Address: tcpip.AddrFrom4(own.Addr().As4()), PrefixLen: own.Bits()}}
	if e := s.AddProtocolAddress(nic, a, stack.AddressProperties{}); e != nil {
		return nil, errors.New(e.String())
	}
	s.SetRouteTable([]tcpip.Route{{Destination: a.AddressWithPrefix.Subnet(), NIC: nic}})
	sack := tcpip.TCPSACKEnabled(true)
	s.SetTransportProtocolOption(tcp.ProtocolNumber, &sack)
	return s, nil
}

// ---- both ends

type halfCloser interface{ CloseWrite() error }

func call(c net.Conn, n uint64) error {
	sent := make(chan error, 1)
	go func() {
		b := make([]byte, piece)
		for k := uint64(0); k < n; {
			l := min(uint64(piece), n-k)
			fill(b[:l], n, k)
			if _, err := c.Write(b[:l]); err != nil {
				sent <- err
				return
			}
			k += l
		}
		sent <- c.(halfCloser).CloseWrite()
	}()
	b := make([]byte, piece)
	got := uint64(0)
	for {
		l, err := c.Read(b)
		for i := 0; i < l; i++ {
			if b[i] != at(n, got+uint64(i)) {
				return fmt.Errorf("byte %d is wrong", got+uint64(i))
			}
		}
		got += uint64(l)
		if err == io.EOF {
			break
		} else if err != nil {
			return err
		}
	}
	if got != n {
		return fmt.Errorf("%d bytes came back", got)
	}
	return <-sent
}

func answer(c net.Conn) {
	defer c.Close()
	if _, err := io.Copy(c, c); err != nil {
		fmt.Fprintln(os.Stderr, "talk-gvisor: answering:", err)
		return
	}
	c.(halfCloser).CloseWrite()
}

func callAll(s *stack.Stack, to tcpip.FullAddress, sizes []string) error {
	for _, text := range sizes {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return err
		}
		t := time.Now()
		ctx, done := context.WithTimeout(context.Background(), time.Minute)
		c, err := gonet.DialContextTCP(ctx, s, to, ipv4.ProtocolNumber)
		done()
		if err == nil {
			err = call(c, n)
			c.Close()
		}
		if err != nil {
			return fmt.Errorf("%d bytes: %w", n, err)
		}
		fmt.Printf("gvisor: %d bytes there, %d back, %.3f s: exact\n", n, n, time.Since(t).Seconds())
	}
	return nil
}

func serve(s *stack.Stack, port uint16) error {
	l, err := gonet.ListenTCP(s, tcpip.FullAddress{NIC: nic, Port: port}, ipv4.ProtocolNumber)
	if err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go answer(c)
		}
	}()
	fmt.Println("ready")
	<-stop
	return nil
}

func run() error {
	ifname := flag.String("i", "peer0", "TAP device")
	addr := flag.String("a", "10.9.0.3/24", "our address")
	flag.Parse()
	own, err := netip.ParsePrefix(*addr)
	if err != nil {
		return err
	}
	s, err := up(*ifname, own)
	if err != nil {
		return err
	}
	w := flag.Args()
	if len(w) == 2 && w[0] == "serve" {
		port, err := strconv.Atoi(w[1])
		if err != nil {
			return err
		}
		return serve(s, uint16(port))
	}
	if len(w) < 4 || w[0] != "call" {
		return errors.New("usage: talk-gvisor [-i IFNAME] [-a ADDR/LEN] call HOST PORT SIZE... | serve PORT")
	}
	host, err := netip.ParseAddr(w[1])
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(w[2])
	if err != nil {
		return err
	}
	return callAll(s, tcpip.FullAddress{NIC: nic, Addr: tcpip.AddrFrom4(host.As4()), Port: uint16(port)}, w[3:])
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "talk-gvisor:", err)
		os.Exit(1)
	}
}
