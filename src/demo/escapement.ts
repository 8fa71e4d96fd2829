import { closePull, comment, giveStar, mergeInto, openPull, publishRelease, reviewPull } from '#seed/acting.ts'
import { append } from '#seed/stage.ts'
import { type Scene, scene } from './scenes.ts'
import { addTeam } from './tower.ts'

const escapement = 'clockwork/escapement'

/** A simulation in Rust. */
export const escapementScenes: Scene[] = [
  scene(329, 9, async (stage) => {
    const description = 'How the escapement of the tower clock ticks, simulated'
    await stage.createRepository('cleo', escapement, { description, topics: ['clock', 'rust', 'simulation'] })
    await addTeam('Menders', 'They mend gears and programs', ['ada', 'farid', 'hana', 'kofi', 'ivo'], [escapement])(stage)
    await stage.push('farid', escapement, [
      { message: 'Swing a pendulum', files: { 'Cargo.toml': cargo, 'src/pendulum.rs': pendulum, 'src/main.rs': main } },
      { message: 'Say what this is', files: { 'README.md': readme } },
    ])
  }),
  scene(322, 20, (stage) => giveStar(stage, 'ada', escapement)),
  scene(282, 17, (stage) =>
    stage.push('farid', escapement, [{ message: 'Let the pallets catch the teeth', files: { 'src/pallets.rs': pallets } }]),
  ),
  scene(238, 18, (stage) =>
    openPull(stage, 'ada', escapement, 'friction', {
      title: 'Lose energy to friction',
      body: 'Without friction the clock never stops, which is not what we see.',
      branch: 'friction',
      reviewers: ['farid'],
      commits: [
        { message: 'Lose energy to friction', files: { 'src/pendulum.rs': append(friction) } },
        { message: 'Test that an unwound clock stops', files: { 'tests/stops.rs': stops } },
      ],
    }),
  ),
  scene(236, 9, (stage) =>
    reviewPull(stage, 'farid', escapement, 'friction', 'APPROVE', 'The numbers agree with what Ben measured.', [
      {
        path: 'tests/stops.rs',
        line: 6,
        body: 'Eight days. The real one needs winding every seven, so there is a day of reserve.',
      },
    ]),
  ),
  scene(236, 10, (stage) => mergeInto(stage, 'farid', escapement, 'friction', 'friction', 'rebase')),
  scene(184, 20, (stage) => giveStar(stage, 'ben', escapement)),
  scene(170, 19, (stage) =>
    publishRelease(stage, 'farid', escapement, {
      tag_name: '0.3.0',
      name: 'It stops when it should',
      body: 'Friction ({friction}), and a test for it.',
    }),
  ),
  scene(104, 17, (stage) =>
    openPull(stage, 'hana', escapement, 'float', {
      title: 'Use single precision',
      body: 'Half the memory. Is it exact enough?',
      branch: 'single',
      reviewers: ['farid'],
      commits: [{ message: 'Use single precision', files: { 'src/main.rs': main.replace('0.05', '0.05_f32 as f64') } }],
    }),
  ),
  scene(102, 9, (stage) =>
    comment(stage, 'farid', escapement, 'float', 'After a week of ticks the error is 40 seconds. Sadly not.'),
  ),
  scene(102, 10, (stage) => closePull(stage, 'hana', escapement, 'float')),
  scene(52, 18, (stage) =>
    stage.push('farid', escapement, [{ message: 'Warm the rod in summer', files: { 'src/rod.rs': rod } }]),
  ),
  scene(7, 19, (stage) =>
    openPull(stage, 'farid', escapement, 'compensation', {
      title: 'Compensate for the heat',
      body: 'A column of mercury rises as the rod grows. @ada, you know the formula.',
      branch: 'compensation',
      reviewers: ['ada'],
      commits: [{ message: 'Compensate for the heat', files: { 'src/rod.rs': append(compensation) } }],
    }),
  ),
]

const cargo = `[package]
name = "escapement"
version = "0.3.0"
edition = "2024"

[dependencies]
`

const readme = `# escapement

Simulates the escapement of the tower clock: a pendulum of 0.994 m, an anchor with two pallets, and a wheel of 30 teeth.

\`\`\`sh
cargo run --release -- --days 7
\`\`\`
`

const pendulum = `/// A pendulum: its angle and its speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pendulum {
    pub length: f64,
    pub angle: f64,
    pub speed: f64,
}

const GRAVITY: f64 = 9.81;

impl Pendulum {
    /// Moves on by \`step\` seconds. Speed first: that keeps the energy.
    pub fn swing(self, step: f64) -> Pendulum {
        let speed = self.speed - GRAVITY / self.length * self.angle.sin() * step;
        Pendulum { speed, angle: self.angle + speed * step, ..self }
    }
}
`

const friction = `
/// The air and the pivots take a little of the speed with every swing.
pub fn slowed(pendulum: Pendulum, loss: f64, step: f64) -> Pendulum {
    Pendulum { speed: pendulum.speed * (1.0 - loss * step), ..pendulum }
}
`

const main = `mod pendulum;

use pendulum::Pendulum;

fn main() {
    let mut clock = Pendulum { length: 0.994, angle: 0.05, speed: 0.0 };
    let mut ticks = 0u32;
    for _ in 0..60_000 {
        let next = clock.swing(0.001);
        if clock.angle.signum() != next.angle.signum() {
            ticks += 1;
        }
        clock = next;
    }
    println!("{ticks} ticks in a minute");
}
`

const pallets = `/// Which pallet holds the wheel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pallet {
    Entry,
    Exit,
}

impl Pallet {
    pub fn other(self) -> Pallet {
        match self {
            Pallet::Entry => Pallet::Exit,
            Pallet::Exit => Pallet::Entry,
        }
    }
}
`

const stops = `use escapement::pendulum::{slowed, Pendulum};

#[test]
fn an_unwound_clock_stops_within_eight_days() {
    let mut clock = Pendulum { length: 0.994, angle: 0.05, speed: 0.0 };
    for _ in 0..8 * 24 * 60 {
        clock = slowed(clock.swing(0.01), 0.4, 0.01);
    }
    assert!(clock.speed.abs() < 1e-3);
}
`

const rod = `/// Steel grows by this share of its length for each kelvin.
const EXPANSION: f64 = 11.5e-6;

/// The length of the rod at a temperature, from its length at 15 degrees.
pub fn length_at(length: f64, celsius: f64) -> f64 {
    length * (1.0 + EXPANSION * (celsius - 15.0))
}
`

const compensation = `
/// Mercury in a jar at the end of the rod rises as the rod grows.
pub fn compensated(length: f64, celsius: f64, jar: f64) -> f64 {
    length_at(length, celsius) - jar * 1.8e-4 * (celsius - 15.0) / 2.0
}
`
