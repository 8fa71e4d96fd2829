import type { Repository } from '#hosting/repositories/repositories.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { checkOpen } from '#parts/imports/availability.ts'
import { findImport, hasContents } from '#parts/imports/page-queries.ts'
import { isUnderWay } from '#parts/imports/states.ts'
import { Refusal } from '#platform/errors.ts'
import { selfHosted } from '#variants.ts'
import { type Html, html } from '#web/html.ts'
import type { Visit } from '#web/page.ts'
import { importPath, mayImport } from './import-page.ts'

/** On the page of a repository, for those who may push: how to fill an empty repository, or where the contents came from. */
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
  const address = `${visit.belfry.addresses.web}${pathOf(repo)}.git`
  return html`<section aria-labelledby="empty"><h2 id="empty">This repository is empty</h2><p>Push an existing repository:</p>
<pre tabindex="0">git remote add origin ${address}
git push -u origin ${repo.default_branch}</pre>${open && html`<p>Or ${link('import a repository')} from Git, Subversion, Mercurial or TFVC, with its whole history.</p>`}</section>`
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
