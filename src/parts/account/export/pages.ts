import { Readable } from 'node:stream'
import { recordAudit } from '#activity/audit.ts'
import { Refusal } from '#platform/errors.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { factList } from '#web/components/table.ts'
import { confirmed } from '#web/confirm-password.ts'
import { alert, attempt, type Problem } from '#web/fields.ts'
import { html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { keepState, takeState } from '#web/page-states.ts'
import { settingsPage } from '#web/settings.ts'
import { checkFree, openExport } from './archive.ts'
import { contents, omissions } from './read-me.ts'

const path = '/settings/export'

export const pages: PageRoute[] = [
  showOwn(path, (visit) => exportPage(visit)),
  submitOwn(path, confirmed(prepare)),
  showOwn(`${path}/archive`, download),
]

function exportPage(visit: SignedIn, problem?: Problem): Outcome {
  const key = visit.flash.data
  const ready =
    typeof key === 'string'
      ? html`<section class="card" aria-labelledby="ready"><h2 id="ready">Your archive is ready to download</h2>
<p>It is made while you download it: your browser shows the progress, and the size is not known before. The link works once, within ten minutes.</p>
<p class="buttons">${buttonLink('Download the archive', `${path}/archive?key=${encodeURIComponent(key)}`, { icon: 'download', kind: 'primary', file: true })}</p></section>`
      : form(visit, path, button('Make an archive', { kind: 'primary', icon: 'archive' }))
  const body = html`${alert(problem)}<p>Take your data with you: one <code>.tar.gz</code> archive with JSON files that any program reads, and a git bundle of each repository that you own.</p>
${ready}<h2>What is inside</h2>${factList(contents.map(([title, about]) => [title, about]))}
<h2>What is not</h2><ul>${omissions.map((text) => html`<li>${text}</li>`)}</ul>
<p class="muted">A README in the archive says which file has what. You can download one archive at a time. The site's audit log records that you asked for it.</p>`
  return settingsPage(path, 'Export your data', body, problem?.status)
}

/** The download is a link of its own, because a form that asks for the password shows a page. */
function prepare(visit: SignedIn): Promise<Outcome> {
  const { belfry, db, visitor } = visit
  return attempt(
    async () => {
      checkFree(belfry, visitor)
      const key = await db.transaction(async (transaction) => {
        await recordAudit(transaction, visitor, 'user.export', visitor.login)
        return keepState(transaction, belfry.vault, visitor, 'export', true)
      })
      return { to: path, flash: { data: key } }
    },
    (problem) => exportPage(visit, problem),
  )
}

async function download(visit: SignedIn): Promise<Outcome> {
  const { belfry, db, visitor, query, request } = visit
  const headers = {
    'Content-Type': 'application/gzip',
    'Content-Disposition': `attachment; filename=belfry-${visitor.login}-${db.now.toISOString().slice(0, 10)}.tar.gz`,
    'Cache-Control': 'no-store',
  }
  if (request.method === 'HEAD') return { headers, file: Readable.from([]) }
  checkFree(belfry, visitor)
  const key = query.get('key') ?? ''
  if (!(await takeState(db, belfry.vault, visitor, 'export', key))) {
    throw new Refusal('gone', 'This link was used before, or is too old. Ask for a new archive in your settings.')
  }
  return { headers, file: openExport(belfry, visitor) }
}
