import { join } from 'node:path'
import { openBlob } from '#git/objects.ts'
import { commitsPage } from '#hosting/commits/views/commits-page.ts'
import { loadReadableRepository } from '#hosting/downloads/readers.ts'
import { findObjects } from '#hosting/lfs/objects.ts'
import { recentBranches } from '#hosting/pulls/views/recent-branches.ts'
import { listRefNames } from '#hosting/refs/recorded-refs.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { contentsHint } from '#parts/imports/views/hint.ts'
import { markShown } from '#parts/notifications/views/thread-subscription.ts'
import { sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { type Html, html } from '#web/html.ts'
import { type Outcome, type PageRoute, show, type Visit } from '#web/page.ts'
import { type CodeLocation, type CodeView, codeAddress, findLocation } from './code-location.ts'
import { readCode } from './read-code.ts'
import { blamePage } from './views/blame-page.ts'
import { filePage } from './views/file-page.ts'
import { imageType, readPointer, textOf } from './views/file-text.ts'
import { findPage } from './views/find-page.ts'
import { folderPage } from './views/folder-page.ts'
import { overview, rootPage } from './views/overview.ts'
import { mostInMenu } from './views/ref-menu.ts'

export const assets = join(import.meta.dirname, 'assets')

export const pages: PageRoute[] = [
  show('/:owner/:repo', repositoryPage),
  show('/:owner/:repo/commits', commitsPage),
  at('tree', contentPage),
  at('blob', contentPage),
  at('raw', rawFile),
  at('blame', async (visit, location) => {
    const content = await readCode(visit.belfry.storage, location)
    // Git blames the target of a link, and not the file to which it leads.
    if (content.kind !== 'file' || content.link !== undefined)
      return { to: codeAddress(content.kind === 'dir' ? 'tree' : 'blob', location, location.path) }
    const refs = await listRefNames(visit.db, location.repo, mostInMenu)
    return codePage(location, `Blame ${location.path}`, await blamePage(visit, location, content, refs))
  }),
  at('find', async (visit, location) => codePage(location, 'Find a file', await findPage(visit, location))),
]

/** A page below `/:owner/:repo/{view}/` of a branch, tag or commit. The former name of a branch redirects. */
function at(view: CodeView, handler: (visit: Visit, location: CodeLocation, view: CodeView) => Promise<Outcome>): PageRoute {
  return show(`/:owner/:repo/${view}/*`, async (visit) => {
    const repo = await loadReadableRepository(visit)
    const found = await findLocation(visit.db, visit.belfry.storage, repo, visit.params['*'] ?? '')
    if ('moved' in found) return { to: codeAddress(view, found.moved, found.moved.path) }
    return handler(visit, found, view)
  })
}

function codePage({ repo, path, ref }: CodeLocation, title: string, body: Html): Outcome {
  const at = path || title ? `${title} at ${ref}` : ref
  return { title: `${at} · ${repo.owner_login}/${repo.name}`, body, above: repositoryHeader(repo, 'code') }
}

/** The start page of a repository. */
async function repositoryPage(visit: Visit): Promise<Outcome> {
  const { owner = '', repo: named = '' } = visit.params
  // The address of a clone, in a browser.
  if (named.endsWith('.git')) return { to: `/${encodeURIComponent(owner)}/${encodeURIComponent(named.slice(0, -4))}` }
  const repo = await loadVisibleRepository(visit)
  await markShown(visit, sql`s.repo_id = ${repo.id} and s.import_id is not null`)
  const hint = (await recentBranches(visit, repo)) ?? (await contentsHint(visit, repo))
  const body = await overview(visit, repo, hint)
  return { title: `${repo.owner_login}/${repo.name}`, body, above: repositoryHeader(repo, 'code'), feed: `${pathOf(repo)}.atom` }
}

async function contentPage(visit: Visit, location: CodeLocation, view: CodeView): Promise<Outcome> {
  const { db, belfry } = visit
  const { repo, path } = location
  const content = await readCode(belfry.storage, location)
  const wanted = content.kind === 'dir' ? 'tree' : 'blob'
  if (view !== wanted) return { to: codeAddress(wanted, location, path) }
  const refs = await listRefNames(db, repo, mostInMenu)
  if (content.kind !== 'dir') return codePage(location, path, await filePage(visit, location, content, refs))
  if (path) return codePage(location, path, await folderPage(visit, location, content, refs))
  const title = html`<h1 class="unseen">${repo.owner_login}/${repo.name} at ${location.ref}</h1>`
  return codePage(location, '', html`<main class="code-page">${title}${await rootPage(visit, location, refs)}</main>`)
}

/** The contents of a file; of a large file that Git LFS stores, its own contents. */
async function rawFile({ db, belfry }: Visit, location: CodeLocation): Promise<Outcome> {
  const { repo, path } = location
  const { storage, files } = belfry
  const content = await readCode(storage, location)
  if (content.kind !== 'file') throw missing()
  const { entry, bytes } = content
  const text = bytes && textOf(bytes)
  const pointer = text === null ? undefined : readPointer(text)
  const [stored] = pointer ? await findObjects(db, repo.id, [pointer.oid]) : []
  const large = stored && (await files.open(stored.oid))
  const picture = imageType(path)
  const type = picture ?? (text === null || large ? 'application/octet-stream' : 'text/plain; charset=utf-8')
  return {
    file: large ?? (await openBlob(storage, repo.id, entry.sha)),
    headers: {
      'Content-Type': type,
      'Content-Length': String(large ? stored.size : entry.size),
      ...(picture && { 'Content-Security-Policy': picturePolicy }),
    },
  }
}

/** An SVG may contain scripts and refer to other servers. */
const picturePolicy = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
