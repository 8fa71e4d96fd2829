import { resolve } from 'node:path'
import { resolveCommit, resolveTree } from '#git/objects.ts'
import { runGit, within } from '#git/run-git.ts'
import type { Storage } from '#git/storage.ts'
import { readFolder } from '#git/tree-entries.ts'
import { findAllAuthors } from '#hosting/refs/commits.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import type { Person } from '#identity/accounts.ts'
import { ByteCache } from '#platform/byte-cache.ts'
import type { Queryable } from '#platform/database.ts'
import { languageOf } from './language-names.ts'

/** Files of a repository that are counted. */
const mostFiles = 100_000
/** Milliseconds to read the authors of all commits. */
const patience = 30_000
/** Addresses that are counted, and those of them that are shown with an account, as documented. */
const mostAuthors = 5000
const mostAccounts = 500

/** By the id of a tree or commit, which never changes. */
const languages = new ByteCache<Record<string, number>>(1 << 20)
const authors = new ByteCache<Author[]>(4 << 20)

/** Bytes of each language in the default branch, most first. */
export async function countLanguages(storage: Storage, repo: Repository): Promise<Record<string, number>> {
  const tree = await resolveTree(storage, repo.id, `refs/heads/${repo.default_branch}`)
  return tree ? countLanguagesOf(storage, repo, tree) : {}
}

/** The same for a tree or a commit, by its id. */
export async function countLanguagesOf(storage: Storage, repo: Repository, tree: string): Promise<Record<string, number>> {
  const known = languages.get(tree)
  if (known) return known
  const bytes = new Map<string, number>()
  for (const { type, size, path } of (await readFolder(storage, repo.id, tree, { entries: mostFiles }, true)).entries) {
    const language = type === 'blob' && size > 0 ? languageOf(path) : undefined
    if (language) bytes.set(language, (bytes.get(language) ?? 0) + size)
  }
  const counted = Object.fromEntries([...bytes].sort(([, a], [, b]) => b - a))
  languages.set(tree, counted, 100 + 50 * bytes.size)
  return counted
}

interface Author {
  name: string
  email: string
  contributions: number
}

/** An account with its commits, or an author without an account. */
export type Contributor = { person: Person; contributions: number } | Author

/** The authors of the default branch, those with most commits first; undefined if there is no commit. */
export async function listContributors(
  db: Queryable,
  storage: Storage,
  repo: Repository,
  anonymous: boolean,
): Promise<Contributor[] | undefined> {
  const tip = await resolveCommit(storage, repo.id, `refs/heads/${repo.default_branch}`)
  return tip === undefined ? undefined : listContributorsOf(db, storage, repo, tip, anonymous)
}

/** The authors of a commit and of those before it. */
export async function listContributorsOf(
  db: Queryable,
  storage: Storage,
  repo: Repository,
  tip: string,
  anonymous: boolean,
): Promise<Contributor[]> {
  const found = await countAuthors(storage, repo, tip)
  const first = found.slice(0, mostAccounts)
  const people = await findAllAuthors(
    db,
    first.map((author) => ({ author, committer: author })),
  )
  const byPerson = new Map<number, { person: Person; contributions: number }>()
  const others: Author[] = found.slice(mostAccounts)
  for (const [index, author] of first.entries()) {
    const person = people[index]?.author
    const counted = person && (byPerson.get(person.id) ?? { person, contributions: 0 })
    if (counted) byPerson.set(counted.person.id, { ...counted, contributions: counted.contributions + author.contributions })
    else others.push(author)
  }
  const all: Contributor[] = [...byPerson.values(), ...(anonymous ? others : [])]
  return all.sort((a, b) => b.contributions - a.contributions)
}

async function countAuthors(storage: Storage, repo: Repository, tip: string): Promise<Author[]> {
  const known = authors.get(tip)
  if (known) return known
  const { output } = await within(patience, (signal) =>
    runGit(resolve(storage.pathOf(repo.id)), ['shortlog', '-s', '-n', '-e', '--end-of-options', tip], { signal }),
  )
  const lines = output.toString().split('\n').slice(0, mostAuthors)
  const counted = lines.flatMap((line) => {
    const [, count, name = '', email = ''] = /^\s*(\d+)\t(.*?) ?<([^<>]*)>$/.exec(line) ?? []
    return count ? [{ name, email, contributions: Number(count) }] : []
  })
  authors.set(tip, counted, output.length + 100 * counted.length)
  return counted
}
