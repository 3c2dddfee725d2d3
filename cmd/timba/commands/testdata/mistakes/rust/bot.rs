use std::io::{BufRead, Write};

fn main() {
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        match words[0] {
            "timba" => println!("ready"),
            "turn" => println!("move {}", words[words.len()]),
            "bye" => return,
            _ => {}
        }
        std::io::stdout().flush().unwrap();
    }
}
