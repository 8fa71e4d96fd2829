import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const source = join(import.meta.dirname, '..', 'src')

/** A collection that lives as long as a module or an object, and grows. */
const growing =
  /^(?:(?:export )?const (\w+)|(?: {2}| {4}this\.)(?:readonly )?(#?\w+)(?:: [^=]+)?) = .*\bnew (?:(?:Map|Set|WeakMap|WeakSet)(?:<.*>)?\(\)|(?:ByteCache|CommitCache|CheckedCache|ReadCache)\b)/

/**
 * Why these are right after the rows and repositories of a running server were put back into an earlier state, as test servers do: ids begin again then.
 * What is not listed uses `ofDatabase`, or calls `db.onRewound`.
 */
const right: Record<string, RegExp[]> = {
  'each is asked to forget, or depends on nothing in the database': [
    /^platform\/(byte-cache|checked-cache)\.ts #kept$/,
    /^http\/rate-limit\.ts #(hours|unshared)$/,
    /^http\/response-cache\.ts #(responses|bodies|forGood)$/,
    /^identity\/callers\.ts #callers$/,
  ],
  'any commit, and so the change, makes it out of date': [/^platform\/read-cache\.ts #kept$/, /^web\/page-cache\.ts #kept$/],
  'by the id of an object of git, which the caller has found in the repository': [
    /^hosting\/commits\/list-commits\.ts counts$/,
    /^hosting\/contents\/(commit-cache|read-code|views\/fork-bar)\.ts /,
    /^hosting\/refs\/branch-list\.ts /,
    /^hosting\/statistics\/statistics\.ts /,
  ],
  'by the edition of the storage': [/^hosting\/contents\/code-location\.ts editions$/],
  'by a text that it follows from': [
    /^http\/(dialects|serialization)\.ts /,
    /^identity\/callers\.ts #keys$/,
    /^platform\/(prepared\.ts names|file-store\/s3-client\.ts #keys)$/,
    /^web\/(components\/icon|highlight\/highlight|markdown\/render)\.ts /,
  ],
  'follows from the declarations': [/^http\/(parameters|serialize)\.ts /, /^parts\/documentation\/reference\.ts /],
  'a request that has not ended: a state is put back when none runs': [
    /^git\/slots\.ts /,
    /^hosting\/(pulls\/mergeability|pushes\/pushes)\.ts /,
    /^http\/(deletion|stream|stream-hub)\.ts /,
    /^identity\/login-throttle\.ts waiting$/,
    /^parts\/(account\/export\/archive|timelines\/current)\.ts /,
    /^platform\/(launcher\.ts|loop-watchdog\.ts|topic-feed\.ts|checked-cache\.ts #loading)/,
  ],
  'ends with the worker, which is opened again': [/^parts\/(webhooks\/sending|imports\/runner)\//],
  'what a server consists of': [
    /^activity\/outbox\/(addresses|local-dispatch)\.ts /,
    /^hosting\/downloads\/readers\.ts authenticators$/,
    /^parts\/webhooks\/diagnosis\/api\.ts known$/,
    /^platform\/(topics|database|database-health|of-database)\.ts /,
  ],
}

const elsewhere = /\.test\.ts$|^(conformance|importer|cli|seed|testing|demo)\/|\/assets\//

function findMemories() {
  return globSync('**/*.ts', { cwd: source })
    .filter((file) => !elsewhere.test(file))
    .flatMap((file) =>
      readFileSync(join(source, file), 'utf8')
        .split('\n')
        .flatMap((line) => {
          const [, constant, field] = growing.exec(line) ?? []
          // A default of a parameter ends with a comma.
          return (constant ?? field) && !/ofDatabase\(|,$/.test(line) ? [`${file} ${constant ?? field}`] : []
        }),
    )
}

test('what a process remembers is right after its database was put back, or forgotten', () => {
  const patterns = Object.values(right).flat()
  const found = findMemories()
  const unknown = found.filter((name) => !patterns.some((pattern) => pattern.test(name)))
  assert.deepEqual(unknown, [], 'make it with ofDatabase, let it forget in db.onRewound, or say above why it stays right')
  const unused = patterns.filter((pattern) => !found.some((name) => pattern.test(name)))
  assert.deepEqual(unused, [])
})
