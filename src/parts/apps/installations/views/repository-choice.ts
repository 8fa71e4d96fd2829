import { listRepositories } from '#hosting/repositories/repositories.ts'
import type { Person } from '#identity/accounts.ts'
import type { Choice } from '#parts/apps/installations/installations.ts'
import { sql } from '#platform/database.ts'
import { choice, field } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import type { SignedIn } from '#web/page.ts'

/** How many repositories a page lists. Others are found by their name. */
const most = 300

interface Shown {
  account: Person
  /** The installation whose choice is shown; undefined for a new one. */
  installation?: { id: number; all_repositories: boolean }
  /** What the form for finding others sends besides. */
  kept?: Record<string, string>
}

/** The choice of repositories, and the form for finding those that are not listed, which must not be inside another form. */
export async function repositoryChoice(visit: SignedIn, { account, installation, kept = {} }: Shown) {
  const { db, visitor, query } = visit
  const wanted = (query.get('q') ?? '').replaceAll('\0', '').slice(0, 100)
  const viewer = { viewer_id: visitor.id, sees_private: true }
  const condition = sql`r.owner_id = ${account.id} and strpos(lower(r.name), lower(${wanted})) > 0`
  const { rows, total } = await listRepositories(db, viewer, condition, sql`lower(r.name)`, { limit: most, offset: 0 })
  const ids = rows.map(({ id }) => id)
  const held = await db.rows<{ repo_id: number }>(sql`
    select repo_id from installation_repositories where installation_id = ${installation?.id ?? 0} and repo_id = any(${ids}::bigint[])`)
  const chosen = new Set(held.map(({ repo_id }) => repo_id))
  const all = installation?.all_repositories ?? true
  const boxes = rows.map(({ id, name, private: hidden }) =>
    choice(
      { name: 'repositories', value: String(id), chosen: chosen.has(id) },
      html`${name}${hidden && html` <span class="muted">private</span>`}`,
    ),
  )
  const fields = html`<fieldset><legend>Repositories</legend><input type="hidden" name="listed" value="${ids.join(' ')}">
${choice({ name: 'reach', value: 'all', type: 'radio', chosen: all }, `All of ${account.login}, also those that come later`)}
${choice({ name: 'reach', value: 'some', type: 'radio', chosen: !all }, 'Only these:')}
<div class="scroll" tabindex="0" role="group" aria-label="Repositories to choose from">${boxes.length ? boxes : html`<p class="muted">There are none.</p>`}</div></fieldset>`
  const isComplete = total <= most && wanted === ''
  return { fields, search: isComplete ? undefined : searchForm(wanted, kept, rows.length, total) }
}

function searchForm(wanted: string, kept: Record<string, string>, listed: number, total: number): Html {
  const hidden = Object.entries(kept).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)
  return html`<p class="muted">${listed} of ${total} repositories are listed. Saving changes only those.</p>
<form method="get" class="form">${hidden}${field({ label: 'Find repositories by name', name: 'q', value: wanted, longest: 100 })}<button>Find</button></form>`
}

const numbersIn = (texts: string[]) => texts.flatMap((text) => (/^\d{1,15}$/.test(text) ? Number(text) : []))

/** What a submitted form changes: only repositories that it listed. */
export function readChoice({ form }: SignedIn): Choice {
  if (form.get('reach') !== 'some') return { all_repositories: true, add: [], remove: [] }
  const add = numbersIn(form.getAll('repositories'))
  const kept = new Set(add)
  const remove = numbersIn((form.get('listed') ?? '').split(' ')).filter((id) => !kept.has(id))
  return { all_repositories: false, add, remove }
}
