import type { Push } from '#activity/events.ts'
import { git } from '#hosting/git/git.ts'
import { noObject } from '#hosting/git/objects.ts'
import type { Command } from '#hosting/git/storage.ts'

/** How many commits an event names, and how much of them it keeps: a timeline is read by the hundred. */
const most = 20
const longestMessage = 16_384
const longestName = 255
const readLimit = 1 << 20

/**
 * The commits that a move of a ref brought. `others` is where the other branches were: what they had already is not distinct, and a
 * branch that is new brings nothing of it.
 */
export async function describeMove(
  path: string,
  { before, after }: Command,
  others: Iterable<string>,
): Promise<Pick<Push, 'size' | 'distinct_size' | 'commits'>> {
  const fresh = before === noObject
  const distinct = [after, ...(fresh ? [] : [`^${before}`]), ...Array.from(new Set(others), (sha) => `^${sha}`)]
  const brought = fresh ? distinct : [after, `^${before}`]
  const [commits, size, distinct_size] = await Promise.all([
    readCommits(path, brought),
    count(path, brought),
    fresh ? undefined : count(path, distinct),
  ])
  if (distinct_size === undefined || distinct_size === size)
    return { size, distinct_size: size, commits: commits.map((commit) => ({ ...commit, distinct: true })) }
  const told = new Set((await ask(path, ['rev-list', `--max-count=${most}`], distinct)).split('\n'))
  return { size, distinct_size, commits: commits.map((commit) => ({ ...commit, distinct: told.has(commit.sha) })) }
}

async function count(path: string, revisions: string[]) {
  return Number(await ask(path, ['rev-list', '--count'], revisions))
}

/** The last few, oldest first. */
async function readCommits(path: string, revisions: string[]) {
  const format = '--format=%H%x00%an%x00%ae%x00%B'
  const fields = (await ask(path, ['log', '-z', `--max-count=${most}`, format], revisions)).split('\0')
  const read = Array.from({ length: Math.floor(fields.length / 4) }, (_, index) => {
    const [sha = '', name = '', email = '', message = ''] = fields.slice(4 * index)
    const author = { name: cut(name, longestName), email: cut(email, longestName) }
    return { sha, message: cut(message.trimEnd(), longestMessage), author }
  })
  return read.reverse()
}

/** What other branches were at may be gone by now, and is no reason to fail. */
function ask(path: string, args: string[], revisions: string[]) {
  return git(['-C', path, ...args, '--ignore-missing', '--stdin'], { input: `${revisions.join('\n')}\n`, limit: readLimit })
}

/** Half a character at the end would be none that the database takes. */
function cut(text: string, longest: number) {
  return text.slice(0, longest).toWellFormed()
}
