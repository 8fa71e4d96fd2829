import { join } from 'node:path'
import { listAudit } from '#activity/audit.ts'
import { isSignUpOpen, settings as knownSettings } from '#config.ts'
import { discardJob, retryJob } from '#hosting/administration/failed-jobs.ts'
import { pageIn } from '#hosting/repositories/views/repository-page.ts'
import { missing } from '#platform/errors.ts'
import { listFailedJobs } from '#platform/failed-jobs.ts'
import { button } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { badge } from '#web/components/label.ts'
import { pager } from '#web/components/pager.ts'
import { table } from '#web/components/table.ts'
import { moment } from '#web/components/time.ts'
import { typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { listAllRepositories, readTotals } from './accounts.ts'
import { organizationRoutes } from './organization-pages.ts'
import { peopleRoutes } from './people-pages.ts'
import { listReports, readSeries, type Span, spans } from './samples.ts'
import { onlyAdmins, perPage, wordsIn } from './site-admin.ts'
import { adminPage } from './views/frame.ts'
import { overview, sizeText } from './views/overview.ts'

export const assets = join(import.meta.dirname, 'assets')

export const pages: PageRoute[] = [
  showOwn('/site-admin', onlyAdmins(overviewPage)),
  ...peopleRoutes,
  ...organizationRoutes,
  showOwn('/site-admin/repositories', onlyAdmins(repositoriesPage)),
  showOwn('/site-admin/jobs', onlyAdmins(jobsPage)),
  submitOwn('/site-admin/jobs', onlyAdmins(actOnJob)),
  showOwn('/site-admin/requests', onlyAdmins(requestsPage)),
  showOwn('/site-admin/audit', onlyAdmins(auditPage)),
  showOwn('/site-admin/settings', onlyAdmins(settingsInForce)),
]

async function overviewPage(visit: SignedIn): Promise<Outcome> {
  const asked = visit.query.get('span') ?? ''
  const span: Span = Object.hasOwn(spans, asked) ? (asked as Span) : 'hour'
  const totals = await readTotals(visit.db)
  return adminPage(visit, '/site-admin', 'This server', overview(totals, await readSeries(visit.db, span), span))
}

async function repositoriesPage(visit: SignedIn): Promise<Outcome> {
  const { words, page, slice, find } = wordsIn(visit, '/site-admin/repositories', 'Find by owner or name')
  const { rows, total } = await listAllRepositories(visit.db, words, slice)
  const lines = rows.map(({ owner_login, name, private: hidden, archived, size, pushed_at, created_at }) => [
    html`<a href="/${owner_login}/${name}">${owner_login}/${name}</a>`,
    html`${badge(hidden ? 'Private' : 'Public')} ${archived && badge('Archived', 'attention')}`,
    sizeText(size * 1000),
    pushed_at ? moment(pushed_at) : '–',
    moment(created_at),
  ])
  const list = rows.length
    ? table(['Repository', 'Visibility', 'Size', 'Pushed', 'Created'], lines, { label: 'Repositories' })
    : emptyState('repo', 'No repository is found')
  const body = html`${find}${list}${pager('/site-admin/repositories', { ...(words && { q: words }) }, page, Math.ceil(total / perPage))}`
  return adminPage(visit, '/site-admin/repositories', 'Repositories', body)
}

async function jobsPage(visit: SignedIn): Promise<Outcome> {
  const page = pageIn(visit.query)
  const { rows, total } = await listFailedJobs(visit.db, { limit: perPage, offset: (page - 1) * perPage })
  const lines = rows.map(({ id, task, attempts, last_error, failed_at }) => [
    html`<code>${task}</code>`,
    attempts,
    html`<details><summary>${(last_error ?? '').split('\n')[0]?.slice(0, 120)}</summary><pre tabindex="0">${last_error?.slice(0, 5000)}</pre></details>`,
    moment(failed_at),
    form(
      visit,
      '/site-admin/jobs',
      html`<input type="hidden" name="id" value="${id}">${button('Retry', { size: 'small', name: 'act', value: 'retry' })} ${button('Discard', { size: 'small', kind: 'danger', name: 'act', value: 'discard' })}`,
      { class: 'buttons' },
    ),
  ])
  const body = rows.length
    ? html`<p>These jobs used up their attempts. Fix the cause, and retry them.</p>${table(['Task', 'Attempts', 'Error', 'Failed', html`<span class="unseen">Actions</span>`], lines, { label: 'Failed jobs' })}${pager('/site-admin/jobs', {}, page, Math.ceil(total / perPage))}`
    : emptyState(
        'check-circle',
        'No job has failed',
        'Jobs that use up their attempts are listed here, to be retried or discarded.',
      )
  return adminPage(visit, '/site-admin/jobs', 'Jobs', body)
}

async function actOnJob(visit: SignedIn): Promise<Outcome> {
  const id = Number(/^\d{1,15}$/.exec(typed(visit.form, 'id'))?.[0] ?? 0)
  const act = visit.form.get('act')
  if (act !== 'retry' && act !== 'discard') throw missing()
  await visit.db.transaction((db) => (act === 'retry' ? retryJob(db, visit.visitor, id) : discardJob(db, visit.visitor, id)))
  return { to: '/site-admin/jobs', flash: { done: act === 'retry' ? 'The job runs again.' : 'The job is discarded.' } }
}

async function requestsPage(visit: SignedIn): Promise<Outcome> {
  const reports = await listReports(visit.db)
  const lines = reports.map(({ at, method, path, status, milliseconds, request_id }) => [
    status >= 500 ? badge(String(status), 'danger') : badge('slow', 'attention'),
    html`<code>${method} ${path}</code>`,
    `${Math.round(milliseconds)} ms`,
    moment(at),
    html`<code>${request_id}</code>`,
  ])
  const body = reports.length
    ? html`<p>The newest requests that failed or took more than a second. The log has more about each, by its id.</p>${table(['Status', 'Request', 'Took', 'At', 'Id in the log'], lines, { label: 'Requests' })}`
    : emptyState('check-circle', 'No request failed or was slow')
  return adminPage(visit, '/site-admin/requests', 'Errors and slow requests', body)
}

async function auditPage(visit: SignedIn): Promise<Outcome> {
  const { words, page, slice, find } = wordsIn(visit, '/site-admin/audit', 'Find by person, action or subject')
  const { rows, total } = await listAudit(visit.db, { words }, slice)
  const lines = rows.map(({ at, actor_id, actor_login, action, subject, via }) => [
    moment(at),
    actor_id === null ? html`${actor_login} ${via && badge(via)}` : html`<a href="/${actor_login}">${actor_login}</a>`,
    html`<code>${action}</code>`,
    subject,
  ])
  const list = rows.length
    ? table(['At', 'By', 'Action', 'Subject'], lines, { label: 'Audit log' })
    : emptyState('log', 'Nothing is recorded yet')
  const body = html`${find}${list}${pager('/site-admin/audit', { ...(words && { q: words }) }, page, Math.ceil(total / perPage))}`
  return adminPage(visit, '/site-admin/audit', 'Audit log', body)
}

function settingsInForce(visit: SignedIn): Outcome {
  const { settings } = visit.belfry
  const lines = Object.entries(knownSettings).map(([name, { about, fallback, secret }]) => {
    const text = process.env[name]?.trim()
    return [
      html`<code>${name}</code>`,
      shown(text || fallback, secret),
      text ? badge('environment', 'accent') : badge('default'),
      about.replaceAll('`', ''),
    ]
  })
  const signup = isSignUpOpen(settings)
  const body = html`<p>Settings are read from the environment when the server starts. People can ${signup ? 'make accounts themselves' : 'not make accounts themselves'} (<code>BELFRY_SIGNUP</code>).</p>
${table(['Setting', 'Value', 'From', 'Meaning'], lines, { label: 'Settings' })}`
  return adminPage(visit, '/site-admin/settings', 'Settings in force', body)
}

/** Secrets and passwords in addresses are not shown. */
function shown(text: string, secret: boolean): Html | string {
  if (!text) return html`<span class="muted">not set</span>`
  return secret ? html`<span class="muted">hidden</span>` : html`<code>${text.replace(/\/\/[^/@]*@/, '//…@')}</code>`
}
