// SPDX-License-Identifier: BSD-2-Clause
//! TCP bulk transfer through smoltcp at its best: two interfaces joined by two
//! queues of recycled frames, one thread, both ends, checksums on.
//!
//! Sockets are filled and emptied in place, without a copy by the application; with WRITE
//! it has so many bytes at a time, which are copied in.
//! Usage: smoltcp-tcp CONNECTIONS MILLISECONDS [WRITE [MTU [BUFFER]]]

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{self, Device, DeviceCapabilities, Medium};
use smoltcp::socket::tcp;
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, HardwareAddress, IpAddress, IpCidr};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

type Queue = Rc<RefCell<VecDeque<Vec<u8>>>>;
type Pool = Rc<RefCell<Vec<Vec<u8>>>>;

struct Port {
    rx: Queue,
    tx: Queue,
    pool: Pool,
    frame: usize,
}

struct Received {
    frame: Vec<u8>,
    pool: Pool,
}

struct Transmit {
    to: Queue,
    pool: Pool,
    frame: usize,
}

impl phy::RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        let r = f(&self.frame);
        self.pool.borrow_mut().push(self.frame);
        r
    }
}

impl phy::TxToken for Transmit {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let mut frame = self.pool.borrow_mut().pop().unwrap_or_else(|| vec![0; self.frame]);
        // Frames keep so many initialised bytes behind their length.
        assert!(len <= frame.capacity());
        unsafe { frame.set_len(len) };
        let r = f(&mut frame);
        self.to.borrow_mut().push_back(frame);
        r
    }
}

impl Device for Port {
    type RxToken<'a> = Received;
    type TxToken<'a> = Transmit;

    fn capabilities(&self) -> DeviceCapabilities {
        let mut c = DeviceCapabilities::default();
        c.medium = Medium::Ethernet;
        c.max_transmission_unit = self.frame;
        c
    }

    fn receive(&mut self, _: Instant) -> Option<(Received, Transmit)> {
        let frame = self.rx.borrow_mut().pop_front()?;
        let tx = Transmit { to: self.tx.clone(), pool: self.pool.clone(), frame: self.frame };
        Some((Received { frame, pool: self.pool.clone() }, tx))
    }

    fn transmit(&mut self, _: Instant) -> Option<Transmit> {
        Some(Transmit { to: self.tx.clone(), pool: self.pool.clone(), frame: self.frame })
    }
}

struct Host {
    port: Port,
    iface: Interface,
    sockets: SocketSet<'static>,
    handles: Vec<SocketHandle>,
    left: Vec<usize>, // of each connection's write that has begun
}

fn host(rx: &Queue, tx: &Queue, pool: &Pool, mtu: usize, n: u8) -> Host {
    let mut port = Port { rx: rx.clone(), tx: tx.clone(), pool: pool.clone(), frame: mtu + 14 };
    let mac = HardwareAddress::Ethernet(EthernetAddress([2, 0, 0, 0, 0, n]));
    let mut iface = Interface::new(Config::new(mac), &mut port, Instant::now());
    iface.update_ip_addrs(|a| a.push(IpCidr::new(IpAddress::v4(10, 0, 0, n), 24)).unwrap());
    Host { port, iface, sockets: SocketSet::new(vec![]), handles: vec![], left: vec![] }
}

fn socket(rx: usize, tx: usize) -> tcp::Socket<'static> {
    let mut s = tcp::Socket::new(tcp::SocketBuffer::new(vec![0; rx]), tcp::SocketBuffer::new(vec![0; tx]));
    s.set_nagle_enabled(false);
    s
}

fn poll(a: &mut Host, b: &mut Host) {
    let now = Instant::now();
    a.iface.poll(now, &mut a.port, &mut a.sockets);
    b.iface.poll(now, &mut b.port, &mut b.sockets);
}

fn connect(a: &mut Host, b: &mut Host, n: usize, buf: usize) {
    for i in 0..n {
        let mut server = socket(buf, 4096);
        server.listen(1000 + i as u16).unwrap();
        b.handles.push(b.sockets.add(server));
        let mut client = socket(4096, buf);
        let to = (IpAddress::v4(10, 0, 0, 2), 1000 + i as u16);
        client.connect(a.iface.context(), to, 10000 + i as u16).unwrap();
        a.handles.push(a.sockets.add(client));
        a.left.push(0);
    }
    let start = std::time::Instant::now();
    loop {
        poll(a, b);
        if b.handles.iter().all(|h| b.sockets.get::<tcp::Socket>(*h).may_recv()) {
            return;
        }
        assert!(start.elapsed().as_secs() < 60, "connections do not come up");
    }
}

/// One round: fill every sender, let both stacks work, empty every receiver.
fn round(a: &mut Host, b: &mut Host, page: &[u8]) -> u64 {
    let mut got = 0;
    for (h, left) in a.handles.iter().zip(a.left.iter_mut()) {
        let s = a.sockets.get_mut::<tcp::Socket>(*h);
        while s.can_send() {
            if page.is_empty() {
                s.send(|room| (room.len(), ())).unwrap();
                continue;
            }
            if *left == 0 {
                *left = page.len();
            }
            *left -= s.send_slice(&page[page.len() - *left..]).unwrap();
        }
    }
    poll(a, b);
    for h in &b.handles {
        let s = b.sockets.get_mut::<tcp::Socket>(*h);
        while s.can_recv() {
            got += s.recv(|data| (data.len(), data.len())).unwrap() as u64;
        }
    }
    got
}

/// Processor time of this process, nanoseconds.
fn cpu_ns() -> f64 {
    #[repr(C)]
    struct Timespec {
        sec: i64,
        nsec: i64,
    }
    extern "C" {
        fn clock_gettime(clock: i32, t: *mut Timespec) -> i32;
    }
    let mut t = Timespec { sec: 0, nsec: 0 };
    unsafe { clock_gettime(2, &mut t) }; // CLOCK_PROCESS_CPUTIME_ID
    t.sec as f64 * 1e9 + t.nsec as f64
}

fn run(a: &mut Host, b: &mut Host, page: &[u8], ms: f64) -> (u64, f64) {
    let (start, mut got) = (cpu_ns(), 0);
    loop {
        // A round of thousands of connections is long enough to look at the clock.
        for _ in 0..if a.handles.len() > 64 { 1 } else { 8 } {
            got += round(a, b, page);
        }
        let t = cpu_ns() - start;
        if t >= ms * 1e6 {
            return (got, t);
        }
    }
}

fn main() {
    let arg: Vec<f64> = std::env::args().skip(1).map(|s| s.parse().expect("a number")).collect();
    let n = *arg.first().unwrap_or(&1.0) as usize;
    let ms = *arg.get(1).unwrap_or(&200.0);
    let page: Vec<u8> = (0..*arg.get(2).unwrap_or(&0.0) as usize).map(|i| (i * 7) as u8).collect();
    let mtu = *arg.get(3).unwrap_or(&4352.0) as usize;
    // What is fastest.
    let best = if n == 1 && mtu > 4000 { 262144.0 } else { 65536.0 };
    let buf = *arg.get(4).unwrap_or(&best) as usize;
    let (to_a, to_b, pool) = (Queue::default(), Queue::default(), Pool::default());
    let mut a = host(&to_a, &to_b, &pool, mtu, 1);
    let mut b = host(&to_b, &to_a, &pool, mtu, 2);
    connect(&mut a, &mut b, n, buf);
    run(&mut a, &mut b, &page, ms / 4.0);
    let (got, t) = run(&mut a, &mut b, &page, ms);
    println!(
        "{{\"peer\":\"smoltcp\",\"workload\":\"tcp-{}\",\"bytes_per_cpu_s\":{:.0},\"ns\":{:.4}}}",
        n,
        got as f64 * 1e9 / t,
        t * 4096.0 / got as f64
    );
}
