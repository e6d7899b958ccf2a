// SPDX-License-Identifier: BSD-2-Clause
//! Blocks whose types the program states. Each line with "//=" is a case: the function that contains it allocates
//! blocks of that type, and of no other, apart from those on its other lines with "//=" or "//+" (not judged).
#![allow(dead_code)]
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

#[derive(Clone, PartialEq, PartialOrd)]
pub struct Point { x: f64, y: f64, z: f32 }
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key { a: u32, b: u32, c: u32 }
pub struct Line { from: Point, to: Point, name: [u8; 13] }
#[derive(Clone)]
pub enum Shape { Dot(u64), Disc { at: [f64; 5], r: f32 }, Nothing }
pub struct Node<T> { value: T, next: Option<Box<Node<T>>>, up: [u16; 9] }
pub trait Area { fn area(&self) -> f64; }
pub struct Square { side: f64, tag: [u8; 41] }
pub struct Circle { r: f64, tag: [u8; 57] }
impl Area for Square { fn area(&self) -> f64 { self.side * self.side + self.tag[3] as f64 } }
impl Area for Circle { fn area(&self) -> f64 { self.r * 3.0 + self.tag[3] as f64 } }

fn point(i: usize) -> Point { Point { x: i as f64, y: 1.5, z: 2.0 } }
fn key(i: usize) -> Key { Key { a: i as u32, b: 2, c: 3 } }

pub mod boxes {
    use super::*;
    #[inline(never)] pub fn record(i: usize) -> Box<Point> { Box::new(point(i)) } //= cases::Point
    #[inline(never)] pub fn big(i: usize) -> Box<Line> { Box::new(Line { from: point(i), to: point(i + 1), name: [i as u8; 13] }) } //= cases::Line
    #[inline(never)] pub fn number(i: usize) -> Box<u64> { Box::new(i as u64 * 3) } //= u64
    #[inline(never)] pub fn array(i: usize) -> Box<[u16; 37]> { Box::new([i as u16; 37]) } //= u16
    #[inline(never)] pub fn tuple(i: usize) -> Box<(u64, Key, u8)> { Box::new((i as u64, key(i), 7)) } //= (u64, cases::Key, u8)
    #[inline(never)] pub fn variant(i: usize) -> Box<Shape> { Box::new(Shape::Disc { at: [i as f64; 5], r: 1.0 }) } //= cases::Shape
    #[inline(never)] pub fn option(i: usize) -> Box<Option<Key>> { Box::new(if i > 1_000_000 { None } else { Some(key(i)) }) } //= core::option::Option<cases::Key>
    #[inline(never)] pub fn square(i: usize) -> Box<dyn Area> { Box::new(Square { side: i as f64, tag: [1; 41] }) } //= cases::Square
    #[inline(never)] pub fn circle(i: usize) -> Box<dyn Area> { Box::new(Circle { r: i as f64, tag: [1; 57] }) } //= cases::Circle
    #[inline(never)] pub fn slice(i: usize) -> Box<[Key]> { let v: Vec<Key> = (0..i).map(key).collect(); v.into_boxed_slice() } //= cases::Key
    #[inline(never)] pub fn nested(i: usize) -> Box<Box<Line>> { Box::new(big(i)) } //= alloc::boxed::Box<cases::Line>
    #[inline(never)] pub fn copied(from: &Box<Point>) -> Box<Point> { from.clone() } //= cases::Point
    #[inline(never)] pub fn closure(i: usize) -> Box<dyn Fn(usize) -> usize> { let k = [i; 7]; Box::new(move |n| n + k[2]) } //= cases::boxes::closure::{closure_env#0}
    #[inline(never)] pub fn text(i: usize) -> Box<str> { "boxed text ".repeat(i + 1).into_boxed_str() } //= {alloc::string::String buffer,u8}
    #[inline(never)] pub fn generic<T>(value: T) -> Box<Node<T>> { Box::new(Node { value, next: None, up: [3; 9] }) } //= cases::Node<cases::Key>
}

pub mod vectors {
    use super::*;
    #[inline(never)] pub fn pushed(n: usize) -> Vec<Point> { let mut v = Vec::new(); for i in 0..n { v.push(point(i)); } v } //= cases::Point
    #[inline(never)] pub fn collected(n: usize) -> Vec<Key> { (0..n).map(key).collect() } //= cases::Key
    #[inline(never)] pub fn reserved(n: usize) -> Vec<Shape> { let mut v = Vec::with_capacity(n); v.push(Shape::Dot(n as u64)); v } //= cases::Shape
    #[inline(never)] pub fn filled(n: usize) -> Vec<u32> { vec![n as u32; n] } //= u32
    #[inline(never)] pub fn zeros(n: usize) -> Vec<f64> { vec![0.0; n] } //= f64
    #[inline(never)] pub fn records(n: usize) -> Vec<Point> { vec![point(n); n] } //= cases::Point
    #[inline(never)] pub fn cloned(from: &[Point]) -> Vec<Point> { from.to_vec() } //= cases::Point
    #[inline(never)] pub fn extended(from: &[Key]) -> Vec<Key> { let mut v = Vec::new(); v.extend_from_slice(from); v } //= cases::Key
    #[inline(never)] pub fn grown(n: usize) -> Vec<u16> { let mut v = Vec::new(); for i in 0..n { v.push(i as u16); } v } //= u16
    #[inline(never)] pub fn bytes(n: usize) -> Vec<u8> { let mut v = Vec::with_capacity(n); v.resize(n, 7u8); v } //= u8
    #[inline(never)] pub fn shrunk(n: usize) -> Vec<Line> { let mut v = Vec::with_capacity(n * 2); v.push(Line { from: point(1), to: point(2), name: [1; 13] }); v.shrink_to_fit(); v } //= cases::Line
    #[inline(never)] pub fn boxes(n: usize) -> Vec<Box<Point>> { let mut v = Vec::with_capacity(n); for i in 0..n { v.push(boxes::record(i)); } v } //= alloc::boxed::Box<cases::Point>
    #[inline(never)] pub fn pointers(from: &[Point]) -> Vec<&Point> { from.iter().filter(|p| p.x > 0.5).collect() } //= &cases::Point
    #[inline(never)] pub fn outer(n: usize) -> Vec<Vec<Key>> { let mut v = Vec::with_capacity(n); for i in 0..n { v.push(collected(i + 1)); } v } //= alloc::vec::Vec<cases::Key>
    //+ cases::Key
    #[inline(never)] pub fn pairs(n: usize) -> Vec<(u8, Point)> { (0..n).map(|i| (i as u8, point(i))).collect() } //= (u8, cases::Point)
    #[inline(never)] pub fn queue(n: usize) -> VecDeque<Point> { let mut q = VecDeque::new(); for i in 0..n { q.push_back(point(i)); } q } //= cases::Point
    #[inline(never)] pub fn queued(n: usize) -> VecDeque<u64> { let mut q = VecDeque::with_capacity(n); q.push_front(3u64); q } //= u64
    #[inline(never)] pub fn heap(n: usize) -> BinaryHeap<Key> { let mut h = BinaryHeap::new(); for i in 0..n { h.push(key(i)); } h } //= cases::Key
    #[inline(never)] pub fn generic<T: Clone>(value: T, n: usize) -> Vec<Node<T>> { let mut v = Vec::new(); for _ in 0..n { v.push(Node { value: value.clone(), next: None, up: [1; 9] }); } v } //= cases::Node<cases::Key>
    #[inline(never)] pub fn options(n: usize) -> Vec<Option<Box<Key>>> { let mut v = Vec::new(); v.resize_with(n, || None); v } //= core::option::Option<alloc::boxed::Box<cases::Key>>
    #[inline(never)] pub fn literal(i: usize) -> Vec<Key> { vec![key(i), key(i + 1), key(i + 2)] } //= cases::Key
}

pub mod counted {
    use super::*;
    #[inline(never)] pub fn rc(i: usize) -> Rc<Point> { Rc::new(point(i)) } //= alloc::rc::Rc{Box,Inner}<cases::Point>
    #[inline(never)] pub fn arc(i: usize) -> Arc<Line> { Arc::new(Line { from: point(i), to: point(i), name: [1; 13] }) } //= alloc::sync::ArcInner<cases::Line>
    #[inline(never)] pub fn cell(i: usize) -> Rc<RefCell<Key>> { Rc::new(RefCell::new(key(i))) } //= alloc::rc::Rc{Box,Inner}<core::cell::RefCell<cases::Key>>
    #[inline(never)] pub fn mutex(i: usize) -> Arc<Mutex<Shape>> { Arc::new(Mutex::new(Shape::Dot(i as u64))) } //= alloc::sync::ArcInner<std::sync::{poison::,}mutex::Mutex<cases::Shape>>
    #[inline(never)] pub fn slice(n: usize) -> Rc<[Key]> { Rc::from(vec![key(n); n].into_boxed_slice()) } //= alloc::rc::Rc{Box,Inner}<[cases::Key]>
    //+ cases::Key
    #[inline(never)] pub fn text(i: usize) -> Arc<str> { let s: &str = NAMES[i % 3]; Arc::from(s) } //= alloc::sync::ArcInner<[u8]>
    #[inline(never)] pub fn object(i: usize) -> Rc<dyn Area> { Rc::new(Square { side: i as f64, tag: [2; 41] }) } //= alloc::rc::Rc{Box,Inner}<cases::Square>
}
static NAMES: [&str; 3] = ["one name", "another name", "the third name"];

pub mod texts {
    use super::*;
    #[inline(never)] pub fn owned(i: usize) -> String { NAMES[i % 3].to_string() } //= alloc::string::String buffer
    #[inline(never)] pub fn formatted(i: usize) -> String { format!("{} and {}", i, NAMES[i % 3]) } //= alloc::string::String buffer
    #[inline(never)] pub fn pushed(n: usize) -> String { let mut s = String::new(); for _ in 0..n { s.push('x'); } s } //= alloc::string::String buffer
    #[inline(never)] pub fn joined(parts: &[&str]) -> String { parts.join(", ") } //= alloc::string::String buffer
    #[inline(never)] pub fn reserved(n: usize) -> String { String::with_capacity(n) } //= alloc::string::String buffer
    #[inline(never)] pub fn upper(s: &str) -> String { s.to_uppercase() } //= alloc::string::String buffer
    #[inline(never)] pub fn copy(s: &String) -> String { s.clone() } //= alloc::string::String buffer
}

pub mod tables {
    use super::*;
    #[inline(never)] pub fn map(n: usize) -> HashMap<u32, Point> { let mut m = HashMap::new(); for i in 0..n { m.insert(i as u32, point(i)); } m } //= hashbrown::raw::RawTable<(u32, cases::Point)>
    #[inline(never)] pub fn reserved(n: usize) -> HashMap<Key, u8> { let mut m = HashMap::with_capacity(n); m.insert(key(1), 3u8); m } //= hashbrown::raw::RawTable<(cases::Key, u8)>
    #[inline(never)] pub fn set(n: usize) -> HashSet<Key> { (0..n).map(key).collect() } //= hashbrown::raw::RawTable<(cases::Key, ())>
    #[inline(never)] pub fn tree(n: usize) -> BTreeMap<u64, Point> { let mut m = BTreeMap::new(); for i in 0..n { m.insert(i as u64, point(i)); } m } //= alloc::collections::btree::node::{Leaf,Internal}Node<u64, cases::Point>
    #[inline(never)] pub fn ordered(n: usize) -> BTreeSet<Key> { (0..n).map(|i| key(i * 7 % 5)).collect() } //= alloc::collections::btree::node::{Leaf,Internal}Node<cases::Key, {(),alloc::collections::btree::set_val::SetValZST}>
    //+ cases::Key
    #[inline(never)] pub fn list(n: usize) -> LinkedList<Line> { let mut l = LinkedList::new(); for i in 0..n { l.push_back(Line { from: point(i), to: point(i), name: [0; 13] }); } l } //= alloc::collections::linked_list::Node<cases::Line>
}

pub mod tasks {
    use super::*;
    async fn twice(i: usize) -> usize { let k = [i; 11]; std::future::ready(()).await; k[3] * 2 }
    #[inline(never)] pub fn function(i: usize) -> Pin<Box<dyn Future<Output = usize>>> { Box::pin(twice(i)) } //= {core::future::from_generator::GenFuture<,}cases::tasks::twice::{async_fn_env#0}{>,}
    #[inline(never)] pub fn block(i: usize) -> Pin<Box<dyn Future<Output = usize>>> { Box::pin(async move { let k = [i; 13]; std::future::ready(()).await; k[2] + 1 }) } //= {core::future::from_generator::GenFuture<,}cases::tasks::block::{async_block_env#0}{>,}
}

pub struct Order { id: u32, lines: Vec<Line>, by_name: HashMap<u32, Point>, label: String }
impl Order {
    #[inline(never)] pub fn add(&mut self, i: usize) { self.lines.push(Line { from: point(i), to: point(i), name: [0; 13] }); } //= cases::Line @ cases::Order::lines
    #[inline(never)] pub fn index(&mut self, i: usize) { self.by_name.insert(i as u32, point(i)); } //= hashbrown::raw::RawTable<(u32, cases::Point)> @ cases::Order::by_name
    #[inline(never)] pub fn label(&mut self, i: usize) { for _ in 0..i { self.label.push_str(NAMES[i % 3]); } } //= alloc::string::String buffer @ cases::Order::label
    #[inline(never)] pub fn own(&mut self, n: usize) -> u64 { let mut v = Vec::new(); for i in 0..n { v.push(i as u64); } v.iter().sum::<u64>() + self.id as u64 } //= u64 @ cases::Order
}

/// A trait of the program for a type of the library, and a method that the library has for a type of the program.
pub trait Total { fn halves(&self) -> Vec<f32>; }
impl Total for Vec<Point> {
    #[inline(never)] fn halves(&self) -> Vec<f32> { self.iter().map(|p| p.z / 2.0).collect() } //= f32
}
pub struct Count(usize, usize);
impl Iterator for Count { type Item = Key; fn next(&mut self) -> Option<Key> { if self.0 == self.1 { None } else { self.0 += 1; Some(key(self.0)) } } }
#[inline(never)] fn counted_up(n: usize) -> Vec<Key> { Count(0, n).collect() } //= cases::Key

fn main() {
    let n = std::env::args().count() * 9;
    let mut kept: Vec<Box<dyn std::any::Any>> = Vec::new();
    macro_rules! keep { ($($value:expr),* $(,)?) => { $( kept.push(Box::new($value)); )* } }
    let points = vectors::pushed(n);
    let keys = vectors::collected(n);
    let pointers = vectors::pointers(&points).len();
    keep!(boxes::record(n), boxes::big(n), boxes::number(n), boxes::array(n), boxes::tuple(n), boxes::variant(n), boxes::option(n),
          boxes::square(n), boxes::circle(n), boxes::slice(n), boxes::nested(n), boxes::copied(&Box::new(point(3))), boxes::closure(n),
          boxes::text(n), boxes::generic(key(n)));
    keep!(vectors::reserved(n), vectors::filled(n), vectors::zeros(n), vectors::records(n), vectors::cloned(&points), vectors::extended(&keys),
          vectors::grown(n), vectors::bytes(n), vectors::shrunk(n), vectors::boxes(n), vectors::outer(n), vectors::pairs(n), vectors::queue(n),
          vectors::queued(n), vectors::heap(n), vectors::generic(key(2), n), vectors::options(n), vectors::literal(n));
    keep!(counted::rc(n), counted::arc(n), counted::cell(n), counted::mutex(n), counted::slice(n), counted::text(n), counted::object(n));
    let owned = texts::owned(n);
    keep!(texts::formatted(n), texts::pushed(n), texts::joined(&NAMES), texts::reserved(n), texts::upper(NAMES[n % 3]), texts::copy(&owned), owned);
    keep!(tables::map(n), tables::reserved(n), tables::set(n), tables::tree(n), tables::ordered(n), tables::list(n));
    keep!(tasks::function(n), tasks::block(n));
    let mut order = Order { id: 1, lines: Vec::new(), by_name: HashMap::new(), label: String::new() };
    for i in 0..n { order.add(i); order.index(i); }
    order.label(n);
    println!("{}", order.own(n));
    keep!(order, points.halves(), counted_up(n));
    let worker = std::thread::spawn(move || vectors::collected(n).len());
    println!("{} {} {}", kept.len(), pointers, worker.join().unwrap());
    std::process::exit(0);
}
