import { collaborate, giveStar, mergeInto, openPull, reviewPull } from '#seed/acting.ts'
import { append } from '#seed/stage.ts'
import { type Scene, scene } from './scenes.ts'

const drift = 'ben/drift'

/** Ben's analysis in Python. */
export const driftScenes: Scene[] = [
  scene(312, 18, async (stage) => {
    const description = 'How late is the clock, and why?'
    await stage.createRepository('ben', drift, { description, topics: ['data', 'python'] })
    await stage.push('ben', drift, [
      { message: 'Read the measurements', files: { 'drift/__init__.py': '', 'drift/readings.py': readings } },
      { message: 'Fit a line', files: { 'drift/fit.py': fit, 'README.md': readme } },
    ])
  }),
  scene(311, 8, (stage) => giveStar(stage, 'ada', drift)),
  scene(310, 20, (stage) => collaborate(stage, 'ben', drift, 'ada', 'push')),
  scene(256, 19, (stage) => stage.push('ben', drift, [{ message: 'Test the fit', files: { 'tests/test_fit.py': fitTest } }])),
  scene(199, 18, (stage) =>
    openPull(stage, 'ada', drift, 'temperature', {
      title: 'Take the temperature into account',
      body: 'The clock is late on warm days: about half a second a day for each kelvin.',
      branch: 'temperature',
      reviewers: ['ben'],
      commits: [{ message: 'Fit the temperature', files: { 'drift/fit.py': append(temperature) } }],
    }),
  ),
  scene(198, 17, (stage) => reviewPull(stage, 'ben', drift, 'temperature', 'APPROVE', 'My class found 0.46. Close!')),
  scene(198, 18, (stage) => mergeInto(stage, 'ben', drift, 'temperature', 'temperature', 'squash')),
  scene(160, 12, (stage) => giveStar(stage, 'farid', drift)),
  scene(83, 17, (stage) => stage.push('ben', drift, [{ message: 'Plot in the terminal', files: { 'drift/plot.py': plot } }])),
  scene(28, 19, (stage) => giveStar(stage, 'cleo', drift)),
  scene(14, 18, (stage) =>
    stage.push('ben', drift, [{ message: 'Skip days without a reading', files: { 'drift/readings.py': append(skipping) } }]),
  ),
]

const readme = `# drift

How late is the clock, and why? Reads the measurements of the tower and fits them.

\`\`\`python
from drift import fit, readings

days = readings.load("measurements.csv")
print(fit.seconds_a_day(days))
\`\`\`
`

const readings = `"""Readings of the clock, one a day."""

import csv
from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Reading:
    day: date
    offset: float  # seconds; positive when the clock is late
    celsius: float


def load(path: str) -> list[Reading]:
    with open(path, newline="") as file:
        return [
            Reading(date.fromisoformat(row["date"]), float(row["offset"]), float(row["celsius"]))
            for row in csv.DictReader(file)
        ]
`

const skipping = `

def without_gaps(days: list[Reading]) -> list[Reading]:
    """Readings of which the day before has one too."""
    known = {reading.day.toordinal() for reading in days}
    return [reading for reading in days if reading.day.toordinal() - 1 in known]
`

const fit = `"""Straight lines through readings."""

from statistics import linear_regression

from .readings import Reading


def seconds_a_day(days: list[Reading]) -> float:
    slope, _ = linear_regression([reading.day.toordinal() for reading in days], [reading.offset for reading in days])
    return slope
`

const temperature = `

def seconds_a_kelvin(days: list[Reading]) -> float:
    slope, _ = linear_regression([reading.celsius for reading in days], [reading.offset for reading in days])
    return slope
`

const fitTest = `from datetime import date, timedelta

from drift.fit import seconds_a_day
from drift.readings import Reading


def test_a_clock_that_loses_two_seconds_a_day():
    days = [Reading(date(2024, 1, 1) + timedelta(n), 2.0 * n, 15.0) for n in range(10)]
    assert abs(seconds_a_day(days) - 2.0) < 1e-9
`

const plot = `"""A plot for those who have only a terminal."""

from .readings import Reading


def bars(days: list[Reading], width: int = 40) -> str:
    most = max(abs(reading.offset) for reading in days) or 1.0
    return "\\n".join(f"{reading.day} {'#' * round(abs(reading.offset) / most * width)}" for reading in days)
`
