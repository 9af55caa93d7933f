// SPDX-License-Identifier: BSD-2-Clause
//! The conversation of tests/interop/talk.h over smoltcp and a TAP device that is there already.
//!
//! talk-smoltcp -i IFNAME -a ADDR/LEN call HOST PORT SIZE... | serve PORT

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{wait, Medium, TunTapInterface};
use smoltcp::socket::tcp::{Socket, SocketBuffer, State};
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{EthernetAddress, IpAddress, IpCidr};
use std::os::unix::io::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};

const BUFFER: usize = 262_144;
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

static STOP: AtomicBool = AtomicBool::new(false);

extern "C" fn on_term(_: libc::c_int) {
    STOP.store(true, Ordering::Relaxed);
}

/// Byte k of the stream of n bytes.
fn byte(n: u64, k: u64) -> u8 {
    let mut z = (n + 1)
        .wrapping_mul(0xd1342543de82ef95)
        .wrapping_add((k / 8 + 1).wrapping_mul(0x9e3779b97f4a7c15));
    z = (z ^ z >> 30).wrapping_mul(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d049bb133111eb);
    ((z ^ z >> 31) >> (8 * (k % 8))) as u8
}

struct Host {
    tap: TunTapInterface,
    iface: Interface,
    sockets: SocketSet<'static>,
}

impl Host {
    fn new(ifname: &str, own: IpCidr) -> Host {
        let mut tap = TunTapInterface::new(ifname, Medium::Ethernet).expect("the TAP device");
        let mac = EthernetAddress([2, 0, 0, 0, 0, 3]);
        let mut config = Config::new(mac.into());
        config.random_seed = std::process::id() as u64;
        let mut iface = Interface::new(config, &mut tap, Instant::now());
        iface.update_ip_addrs(|a| a.push(own).unwrap());
        Host { tap, iface, sockets: SocketSet::new(vec![]) }
    }

    fn socket(&mut self) -> SocketHandle {
        let s = Socket::new(SocketBuffer::new(vec![0; BUFFER]), SocketBuffer::new(vec![0; BUFFER]));
        self.sockets.add(s)
    }

    /// Lets the stack work; sleeps until a frame or a timer when `idle`.
    fn turn(&mut self, idle: bool) {
        if idle {
            let delay = self.iface.poll_delay(Instant::now(), &self.sockets);
            let most = Duration::from_millis(50);
            let d = delay.map_or(most, |d| d.min(most));
            let _ = wait(self.tap.as_raw_fd(), Some(d));
        }
        self.iface.poll(Instant::now(), &mut self.tap, &mut self.sockets);
    }
}

fn call(h: &mut Host, to: (IpAddress, u16), own_port: u16, n: u64) -> Result<(), String> {
    let handle = h.socket();
    let s = h.sockets.get_mut::<Socket>(handle);
    s.connect(h.iface.context(), to, own_port).map_err(|e| e.to_string())?;
    let (mut sent, mut got) = (0u64, 0u64);
    let mut last = std::time::Instant::now();
    let result = loop {
        let s = h.sockets.get_mut::<Socket>(handle);
        let before = sent + got;
        while sent < n && s.can_send() {
            sent += s
                .send(|room| {
                    let l = (room.len() as u64).min(n - sent) as usize;
                    for (i, b) in room[..l].iter_mut().enumerate() {
                        *b = byte(n, sent + i as u64);
                    }
                    (l, l as u64)
                })
                .map_err(|e| e.to_string())?;
        }
        if sent == n && s.may_send() && s.state() != State::SynSent {
            s.close();
        }
        while s.can_recv() {
            let wrong = s
                .recv(|data| {
                    let bad = data.iter().enumerate().position(|(i, b)| *b != byte(n, got + i as u64));
                    got += data.len() as u64;
                    (data.len(), bad)
                })
                .map_err(|e| e.to_string())?;
            if wrong.is_some() {
                return Err(format!("a byte before {got} is wrong"));
            }
        }
        match s.state() {
            State::TimeWait => break if got == n { Ok(()) } else { Err(format!("{got} bytes came back")) },
            State::Closed => break Err(format!("closed after {sent} bytes there, {got} back")),
            _ => (),
        }
        if sent + got != before {
            last = std::time::Instant::now();
        } else if last.elapsed() > PATIENCE {
            break Err(format!("nothing more after {sent} bytes there, {got} back"));
        }
        h.turn(sent + got == before);
    };
    h.turn(false); // the last acknowledgement
    h.sockets.remove(handle);
    result
}

/// Sends back what comes until the peer ends.
fn answer(s: &mut Socket) -> bool {
    let mut worked = false;
    while s.can_recv() && s.can_send() {
        let room = s.send_capacity() - s.send_queue();
        let mut buf = vec![0; room.min(65536)];
        let n = s.recv_slice(&mut buf).unwrap_or(0);
        assert_eq!(s.send_slice(&buf[..n]), Ok(n));
        worked |= n != 0;
    }
    if s.state() == State::CloseWait && !s.can_recv() {
        s.close();
    }
    worked
}

fn serve(h: &mut Host, port: u16) {
    let handles: Vec<_> = (0..4).map(|_| h.socket()).collect();
    println!("ready");
    while !STOP.load(Ordering::Relaxed) {
        let mut worked = false;
        for handle in &handles {
            let s = h.sockets.get_mut::<Socket>(*handle);
            if !s.is_open() {
                s.listen(port).unwrap();
            }
            worked |= answer(s);
        }
        h.turn(!worked);
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (mut ifname, mut own) = ("peer0".to_string(), "10.9.0.3/24".to_string());
    let mut at = 0;
    while at + 1 < args.len() && args[at].starts_with('-') {
        match args[at].as_str() {
            "-i" => ifname = args[at + 1].clone(),
            "-a" => own = args[at + 1].clone(),
            _ => break,
        }
        at += 2;
    }
    unsafe { libc::signal(libc::SIGTERM, on_term as extern "C" fn(libc::c_int) as usize) };
    let mut h = Host::new(&ifname, own.parse().expect("an address"));
    let w = &args[at..];
    if w.len() == 2 && w[0] == "serve" {
        return serve(&mut h, w[1].parse().expect("a port"));
    }
    assert!(w.len() >= 4 && w[0] == "call", "call HOST PORT SIZE... | serve PORT");
    let to = (IpAddress::Ipv4(w[1].parse().expect("an address")), w[2].parse().expect("a port"));
    let mut own_port = 20000 + (std::process::id() % 40000) as u16;
    for size in &w[3..] {
        let n = size.parse().expect("a size");
        let t = std::time::Instant::now();
        own_port += 1;
        match call(&mut h, to, own_port, n) {
            Ok(()) => println!("smoltcp: {n} bytes there, {n} back, {:.3} s: exact", t.elapsed().as_secs_f64()),
            Err(e) => {
                eprintln!("talk-smoltcp: {n} bytes: {e}");
                std::process::exit(1);
            }
        }
    }
}
