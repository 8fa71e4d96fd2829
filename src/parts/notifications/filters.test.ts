import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFilter } from './filters.ts'

test('a filter is parsed into terms, and invalid terms are reported', () => {
  const read = (text: string) => {
    const { terms, unknown } = readFilter(text)
    return [...terms.map(({ not, key, value }) => `${not ? 'not ' : ''}${key} ${value}`), ...unknown.map((word) => `? ${word}`)]
  }
  const cases: [text: string, ...read: string[]][] = [
    ['', ...[]],
    ['   ', ...[]],
    ['smoke', 'title smoke'],
    ['Smoke  MIRRORS', 'title Smoke', 'title MIRRORS'],
    ['"smoke and mirrors"', 'title smoke and mirrors'],
    ['-"smoke and" fire', 'not title smoke and', 'title fire'],
    ['is:unread', 'is unread'],
    ['-is:pull', 'not is pull'],
    ['IS:Issue', 'is issue'],
    ['is:banana', '? is:banana'],
    ['-is:banana', '? -is:banana'],
    ['is:toString reason:__proto__', '? is:toString', '? reason:__proto__'],
    ['reason:mention reason:assign', 'reason mention', 'reason assign'],
    ['reason:whim', '? reason:whim'],
    ['repo:Ada/Engine', 'repo ada/engine'],
    ['repo:engine', '? repo:engine'],
    ['repo:ada/', '? repo:ada/'],
    ['is:', 'title is:'],
    ['-', 'title -'],
    ['--x', 'not title -x'],
    ['a:b', 'title a:b'],
    ['"unclosed', 'title "unclosed'],
    ['""', ...[]],
    ['50% \\_', 'title 50%', 'title \\_'],
    ['a\0b', 'title ab'],
  ]
  for (const [text, ...expected] of cases) assert.deepEqual(read(text), expected, JSON.stringify(text))
  assert.equal(readFilter('a '.repeat(10_000)).terms.length, 30)
})
