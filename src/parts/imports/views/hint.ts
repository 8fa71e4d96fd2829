import type { Repository } from '#hosting/repositories/repositories.ts'
import { checkOpen } from '#parts/imports/availability.ts'
import { findImport, hasContents } from '#parts/imports/page-queries.ts'
import { isUnderWay } from '#parts/imports/states.ts'
import { Refusal } from '#platform/errors.ts'
import { selfHosted } from '#variants.ts'
import { type Html, html } from '#web/html.ts'
import type { Visit } from '#web/page.ts'
import { importPath, mayImport } from './import-page.ts'

/** On the page of a repository, for those who may push: that an empty repository can be imported, or where the contents came from. */
export async function contentsHint(visit: Visit, repo: Repository): Promise<Html | undefined> {
  if (!visit.visitor || !mayImport(repo) || repo.archived) return undefined
  const open = isOpen(visit)
  const imported = open ? await findImport(visit.db, repo) : undefined
  const link = (text: string) => html`<a href="${importPath(repo)}">${text}</a>`
  if (imported?.status === 'complete')
    return html`<p class="muted">Imported from ${imported.vcs_url}: ${link('report and authors')}</p>`
  if (imported)
    return html`<p class="note">${link(isUnderWay(imported.status) ? 'An import into this repository is in progress.' : 'An import into this repository needs your input.')}</p>`
  if (await hasContents(visit.db, repo)) return undefined
  return open
    ? html`<p>You can ${link('import a repository')} from Git, Subversion, Mercurial or TFVC, with its whole history.</p>`
    : undefined
}

function isOpen({ belfry, db }: Visit) {
  try {
    checkOpen(belfry.settings, selfHosted, db.now)
    return true
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}
