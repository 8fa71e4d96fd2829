import { readFileSync } from 'node:fs'
import { git } from '#git/git.ts'
import { pathOf } from './replay.ts'

export interface Commit {
  /** The git id of the files. */
  tree: string
  /** No two commits have the same. */
  message: string
  /** Their messages. */
  parents: string[]
  author: string
  /** Seconds and time zone, as git writes them. */
  date: string
}

/** Branches and tags with the messages of their commits, and all commits, as lines in order. */
export const describeHistory = (refs: Record<string, string>, commits: Commit[]) =>
  [
    ...new Set([
      ...Object.entries(refs).map(([name, message]) => `${name}: ${title(message)}`),
      ...commits.map(({ tree, message, parents, author, date }) =>
        [tree, author, date, JSON.stringify(message), ...parents.map((parent) => `after ${title(parent)}`)].join(', '),
      ),
    ]),
  ].sort()

const title = (message: string) => message.split('\n', 1)[0]

/** What the source's own program said of a recording. */
export const recordedHistory = (kind: string) =>
  readFileSync(pathOf(`${kind}.txt`), 'utf8')
    .trim()
    .split('\n')

export async function historyIn(repository: string) {
  const run = async (...args: string[]) => git(['-C', repository, ...args])
  const fields = '%H%x00%T%x00%an%x00%ad%x00%P%x00%B%x01'
  const logged = (await run('log', '--branches', '--tags', '--date=raw', `--format=${fields}`))
    .split('\x01')
    .map((entry) => entry.trim().split('\0'))
  const messages = new Map(logged.map(([id = '', , , , , message = '']) => [id, message.trim()]))
  const messageOf = (id: string) => messages.get(id) ?? id
  const commits = logged.slice(0, -1).map(([id = '', tree = '', author = '', date = '', parents = '']) => ({
    ...{ tree, author, date, message: messageOf(id) },
    parents: parents.split(' ').filter(Boolean).map(messageOf),
  }))
  const listed = (await run('for-each-ref', '--format=%(refname) %(objectname) %(*objectname)', 'refs/heads', 'refs/tags'))
    .trim()
    .split('\n')
  const refs = listed.map((line) => line.split(' ')).map(([name = '', id = '', commit]) => [name, messageOf(commit || id)])
  return describeHistory(Object.fromEntries(refs), commits)
}
