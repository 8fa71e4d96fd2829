import { openBlob, resolveCommit } from '#git/objects.ts'
import type { Entry } from '#git/tree-entries.ts'
import { loadReadableRepository } from '#hosting/downloads/readers.ts'
import { encodePath } from '#hosting/refs/json.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { missing } from '#platform/errors.ts'
import { type Html, html } from '#web/html.ts'
import { type Outcome, type PageRoute, show, type Visit } from '#web/page.ts'
import { type Content, readContent } from './contents.ts'

export const pages: PageRoute[] = [
  show('/:owner/:repo/tree/*', (visit) => contentPage(visit)),
  show('/:owner/:repo/blob/*', (visit) => contentPage(visit)),
  show('/:owner/:repo/raw/*', rawFile),
]

interface ContentLocation {
  repo: Repository
  /** A branch, a tag or a commit. */
  ref: string
  path: string
}

async function contentPage(visit: Visit): Promise<Outcome> {
  const location = await findLocation(visit)
  const content = await readContent(visit.belfry.storage, location.repo, location.path, location.ref)
  const { repo, ref, path } = location
  const body = html`<main class="conversation"><h1>${trail(location)}</h1><p class="muted">In <code>${ref}</code></p>
${content.kind === 'dir' ? folder(location, content.entries) : file(location, content)}</main>`
  return { title: `${path || ref} · ${repo.owner_login}/${repo.name}`, body, above: repositoryHeader(repo, 'code') }
}

/**
 * Splits the path into a ref, which may contain slashes, and the path of a file. No ref is the beginning of another, so the first that
 * exists is the right one.
 */
async function findLocation(visit: Visit): Promise<ContentLocation> {
  const repo = await loadReadableRepository(visit)
  const parts = (visit.params['*'] ?? '').replace(/\/+$/, '').split('/')
  if (parts.join('').includes('\0')) throw missing()
  for (let length = 1; length <= Math.min(parts.length, deepestRef); length++) {
    const ref = parts.slice(0, length).join('/')
    if (ref && (await resolveCommit(visit.belfry.storage, repo.id, ref)))
      return { repo, ref, path: parts.slice(length).join('/') }
  }
  throw missing()
}

/** Each part takes a question to git. */
const deepestRef = 8

const addressOf = (kind: 'tree' | 'blob' | 'raw', { repo, ref }: ContentLocation, path: string) =>
  `${pathOf(repo)}/${kind}/${encodePath(ref)}${path && `/${encodePath(path)}`}`

/** The folders above, as links. */
function trail(location: ContentLocation): Html {
  const parts = location.path.split('/').filter(Boolean)
  const above = parts.slice(0, -1).map((part, index) => {
    const path = parts.slice(0, index + 1).join('/')
    return html`<a href="${addressOf('tree', location, path)}">${part}</a> / `
  })
  return html`<a href="${addressOf('tree', location, '')}">${location.repo.name}</a>${parts.length > 0 && ' / '}${above}${parts.at(-1)}`
}

function folder(location: ContentLocation, entries: Entry[]): Html {
  const rows = entries.map(({ type, path }) => {
    const name = path.slice(path.lastIndexOf('/') + 1)
    if (type === 'commit') return html`<li>${name} <span class="muted">submodule</span></li>`
    return html`<li><a href="${addressOf(type === 'tree' ? 'tree' : 'blob', location, path)}">${name}${type === 'tree' && '/'}</a></li>`
  })
  return rows.length ? html`<ul class="issues">${rows}</ul>` : html`<p class="muted">This folder is empty.</p>`
}

function file(location: ContentLocation, content: Exclude<Content, { kind: 'dir' }>): Html {
  if (content.kind === 'submodule') return html`<p>A submodule at commit <code>${content.entry.sha}</code>.</p>`
  if (content.kind === 'symlink') return html`<p>A link to <code>${content.target}</code>.</p>`
  const { entry, bytes } = content
  const raw = html`<p class="muted">${entry.size} bytes · <a href="${addressOf('raw', location, location.path)}">Raw</a></p>`
  const text = bytes && textOf(bytes)
  if (text === null) return html`${raw}<p class="muted">This file is binary, or too large to show.</p>`
  const lines = text.replace(/\n$/, '').split('\n')
  return html`${raw}<pre tabindex="0">${lines.map((line, index) => html`<span id="L${index + 1}">${line}</span>\n`)}</pre>`
}

/** Null for contents that are not text. */
function textOf(bytes: Buffer) {
  if (bytes.includes(0)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

async function rawFile(visit: Visit): Promise<Outcome> {
  const { repo, ref, path } = await findLocation(visit)
  const { storage } = visit.belfry
  const content = await readContent(storage, repo, path, ref)
  if (content.kind !== 'file') throw missing()
  const { entry, bytes } = content
  const type = bytes && textOf(bytes) !== null ? 'text/plain; charset=utf-8' : 'application/octet-stream'
  return {
    file: await openBlob(storage, repo.id, entry.sha),
    headers: { 'Content-Type': type, 'Content-Length': String(entry.size) },
  }
}
