import { readBlob, resolveCommit } from '#git/objects.ts'
import type { Storage } from '#git/storage.ts'
import { listEntries } from '#hosting/contents/contents.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'

/** A file that new issues begin with. */
export interface IssueTemplate {
  /** The name of the file. */
  file: string
  name: string
  about: string
  title: string
  labels: string[]
  assignees: string[]
  body: string
}

const folder = '.github/ISSUE_TEMPLATE'
const most = 20
const longest = 65_536

/** The templates of the default branch, by file name. Files that are too large are left out. */
export async function listTemplates(storage: Storage, repo: Repository): Promise<IssueTemplate[]> {
  const commit = await resolveCommit(storage, repo.id, `refs/heads/${repo.default_branch}`)
  if (!commit) return []
  const entries = await listEntries(storage, repo, commit, folder)
  const files = entries.filter(({ type, path, size }) => type === 'blob' && /\.md$/i.test(path) && size <= longest).slice(0, most)
  return Promise.all(
    files.map(async ({ path, sha }) =>
      parseTemplate(path.slice(folder.length + 1), (await readBlob(storage, repo.id, sha, longest)).toString()),
    ),
  )
}

/** The fields above the text are `name: value` between two lines of dashes, a small part of YAML. */
export function parseTemplate(file: string, text: string): IssueTemplate {
  const [, head = '', body = ''] = /^---\r?\n([\s\S]*?)\r?\n---[^\S\n]*(?:\r?\n|$)([\s\S]*)$/.exec(text) ?? [undefined, '', text]
  const fields = new Map<string, string>()
  let last = ''
  for (const line of head.split(/\r?\n/)) {
    const [, name, value = ''] = /^([a-z_]+):(.*)$/is.exec(line) ?? []
    const [, item] = /^\s*-\s(.*)$/s.exec(line) ?? []
    if (name !== undefined) {
      last = name.toLowerCase()
      fields.set(last, value.trim())
    } else if (item !== undefined) fields.set(last, [fields.get(last), item.trim()].filter(Boolean).join(','))
  }
  const plain = (value: string) => value.trim().replace(/^(["'])(.*)\1$/, '$2')
  const one = (name: string) => plain(fields.get(name) ?? '')
  const several = (name: string) =>
    one(name)
      .replace(/^\[(.*)\]$/, '$1')
      .split(',')
      .map(plain)
      .filter(Boolean)
  return {
    file,
    name: one('name') || file.replace(/\.md$/i, ''),
    about: one('about') || one('description'),
    title: one('title'),
    labels: several('labels'),
    assignees: several('assignees'),
    body: body.trim(),
  }
}
