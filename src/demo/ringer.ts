import * as acts from '#seed/acting.ts'
import { giveStar, headOf, mergeInto, openPull, publishRelease, reviewPull, runCheck, setStatus } from '#seed/acting.ts'
import { append, replace } from '#seed/stage.ts'
import { type Scene, scene } from './scenes.ts'

const ringer = 'clockwork/ringer'

/** A service in Go, whose pull requests are checked. */
export const ringerScenes: Scene[] = [
  scene(277, 10, async (stage) => {
    const description = 'Rings the bells at the right time'
    await stage.createRepository('cleo', ringer, { description, topics: ['bells', 'go', 'scheduler'] })
    await acts.collaborate(stage, 'cleo', ringer, 'hana', 'maintain')
    await acts.collaborate(stage, 'cleo', ringer, 'kofi', 'push')
    await acts.collaborate(stage, 'cleo', ringer, 'ada', 'push')
    await stage.push('hana', ringer, [
      { message: 'Parse the timetable', files: { 'go.mod': mod, 'timetable/timetable.go': timetable } },
      { message: 'Ring', files: { 'main.go': main, 'README.md': readme } },
    ])
  }),
  scene(275, 8, (stage) => giveStar(stage, 'kofi', ringer)),
  scene(229, 19, (stage) => giveStar(stage, 'juno', ringer)),
  scene(226, 18, (stage) => acts.fork(stage, 'juno', ringer)),
  scene(222, 16, (stage) =>
    openPull(stage, 'juno', ringer, 'comma', {
      title: 'Add a comma to the README',
      body: 'My first pull request. It is only a comma.',
      branch: 'comma',
      from: 'juno/ringer',
      commits: [{ message: 'Add a comma', files: { 'README.md': replace('bells at', 'bells, at') } }],
    }),
  ),
  scene(221, 9, (stage) => reviewPull(stage, 'hana', ringer, 'comma', 'APPROVE', 'A good comma. Welcome!')),
  scene(221, 10, (stage) => mergeInto(stage, 'hana', ringer, 'comma', 'comma', 'squash', 'juno/ringer')),
  scene(176, 18, (stage) =>
    stage.push('hana', ringer, [
      { message: 'Test the timetable', files: { 'timetable/timetable_test.go': timetableTest } },
      { by: 'kofi', message: 'Wait for the rope to come back', files: { 'rope/rope.go': rope } },
    ]),
  ),
  scene(133, 9, (stage) =>
    publishRelease(stage, 'hana', ringer, {
      tag_name: 'v1.0.0',
      name: 'On time',
      body: 'Rings on time for a month. Thanks to @kofi and @juno ({comma}).',
    }),
  ),
  scene(76, 17, (stage) =>
    openPull(stage, 'kofi', ringer, 'retry', {
      title: 'Pull again when a bell does not answer',
      body: 'In frost the first pull is not always enough.',
      branch: 'retry',
      reviewers: ['hana'],
      commits: [{ message: 'Pull again', files: { 'rope/rope.go': append(again) } }],
    }),
  ),
  scene(75, 10, async (stage) => {
    const head_sha = await headOf(stage, ringer, 'retry')
    await setStatus(stage, 'hana', ringer, head_sha, {
      state: 'success',
      context: 'ci/test',
      description: '42 tests passed',
      target_url: null,
    })
    await reviewPull(stage, 'hana', ringer, 'retry', 'APPROVE', 'Works on the test bench.')
    stage.clock.advance(12)
    await mergeInto(stage, 'hana', ringer, 'retry', 'retry', 'squash')
  }),
  scene(6, 16, (stage) =>
    openPull(stage, 'kofi', ringer, 'holidays', {
      title: 'Know the holidays',
      body: 'On holidays the first bell is at eight. The list is for next year too. @hana and @ada, please have a look.',
      branch: 'holidays',
      reviewers: ['hana', 'ada'],
      commits: [
        { message: 'Know the holidays', files: { 'timetable/holidays.go': holidays } },
        { message: 'Ask for the holiday first', files: { 'main.go': replace('timetable.Next', 'timetable.NextWorkday') } },
      ],
    }),
  ),
  scene(6, 17, async (stage) => {
    const head_sha = await headOf(stage, ringer, 'holidays')
    const test = {
      name: 'test',
      conclusion: 'failure' as const,
      output: { title: '1 of 43 tests failed', summary: failure, annotations: [annotation] },
    }
    await runCheck(stage, 'hana', ringer, { ...test, head_sha })
    await runCheck(stage, 'hana', ringer, {
      name: 'vet',
      conclusion: 'success',
      head_sha,
      output: { title: 'Nothing to say', summary: 'No findings.' },
    })
    await setStatus(stage, 'kofi', ringer, head_sha, {
      state: 'success',
      context: 'bench/one-bell',
      description: 'Rang 12 times',
      target_url: null,
    })
    await setStatus(stage, 'kofi', ringer, head_sha, {
      state: 'pending',
      context: 'bench/six-bells',
      description: 'Waits for Saturday',
      target_url: null,
    })
  }),
  scene(5, 9, (stage) =>
    reviewPull(stage, 'hana', ringer, 'holidays', 'REQUEST_CHANGES', 'The test is right: New Year is missing.', [
      { path: 'timetable/holidays.go', line: 8, body: 'Please start the list with the first of January.' },
    ]),
  ),
]

const failure = 'TestFirstBell/new_year: the first bell was at 06:00, expected 08:00.'
const annotation = {
  ...{ path: 'timetable/holidays.go', start_line: 8, end_line: 8, start_column: null, end_column: null },
  ...{ annotation_level: 'failure' as const, message: 'New Year is not in the list', title: 'TestFirstBell', raw_details: null },
}

const mod = `module bellwater.example/ringer

go 1.24
`

const readme = `# ringer

Rings the bells at the right time.

\`\`\`sh
go run . -timetable week.txt
\`\`\`

| Flag         | Meaning                     |
| ------------ | --------------------------- |
| \`-timetable\` | the file with the timetable |
| \`-quiet\`     | print, and do not ring      |
`

const timetable = `// Package timetable says when which bell rings.
package timetable

import (
	"fmt"
	"time"
)

// Entry is one line of a timetable.
type Entry struct {
	At    time.Duration // after midnight
	Bells []int
}

// Parse reads a line such as "18:45 1 2 3 4".
func Parse(line string) (Entry, error) {
	var hour, minute int
	if _, err := fmt.Sscanf(line, "%d:%d", &hour, &minute); err != nil {
		return Entry{}, fmt.Errorf("timetable: %q has no time: %w", line, err)
	}
	return Entry{At: time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute}, nil
}
`

const main = `package main

import (
	"flag"
	"log"
	"time"

	"bellwater.example/ringer/timetable"
)

func main() {
	path := flag.String("timetable", "week.txt", "the file with the timetable")
	flag.Parse()
	for {
		next, err := timetable.Next(*path, time.Now())
		if err != nil {
			log.Fatal(err)
		}
		time.Sleep(time.Until(next))
	}
}
`

const timetableTest = `package timetable

import "testing"

func TestParse(t *testing.T) {
	entry, err := Parse("18:45 1 2 3 4")
	if err != nil {
		t.Fatal(err)
	}
	if entry.At.Minutes() != 18*60+45 {
		t.Errorf("got %v", entry.At)
	}
}
`

const rope = `// Package rope pulls a rope and waits until it is back.
package rope

import "time"

// Rope hangs from a bell.
type Rope struct {
	Bell  int
	Swing time.Duration
}

// Pull pulls once.
func (r Rope) Pull() {
	time.Sleep(r.Swing)
}
`

const again = `
// PullUntil pulls until the bell has rung, at most three times.
func (r Rope) PullUntil(rang func() bool) bool {
	for try := 0; try < 3; try++ {
		r.Pull()
		if rang() {
			return true
		}
	}
	return false
}
`

const holidays = `package timetable

import "time"

// Holidays are days on which the first bell is at eight.
var Holidays = map[string]bool{
	// month and day
	"02-14": true,
	"05-01": true,
	"12-25": true,
	"12-26": true,
}

// IsHoliday says whether a day is a holiday.
func IsHoliday(day time.Time) bool {
	return Holidays[day.Format("01-02")]
}
`
