import type { Repository } from '#hosting/repositories/repositories.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { loadAdministered, repositorySettings } from '#hosting/repositories/views/settings-page.ts'
import { invalid } from '#platform/errors.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { icon } from '#web/components/icon.ts'
import { box } from '#web/components/table.ts'
import { alert, attempt, choice, field, type Problem, typed } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { protectedBranches } from './protected-branches.ts'
import { changeProtection, deleteProtection, findProtection, findProtections } from './protection.ts'
import { noActors, noRules, type Protection, type Rules } from './rules.ts'

const place = '/:owner/:repo/settings/branches'

export const pages: PageRoute[] = [
  showOwn(place, list),
  showOwn(`${place}/edit`, (visit) => edit(visit)),
  submitOwn(`${place}/edit`, save),
  submitOwn(`${place}/delete`, remove),
]

const pathOfBranches = (repo: Repository) => `${pathOf(repo)}/settings/branches`

async function list(visit: SignedIn): Promise<Outcome> {
  const repo = await loadAdministered(visit)
  const names = [...(await protectedBranches(visit.db, repo))].toSorted()
  const rules = await findProtections(visit.db, repo, names)
  const add = buttonLink('Protect a branch', `${pathOfBranches(repo)}/edit`, { kind: 'primary' })
  const body = names.length
    ? html`<p>${add}</p>${box(names.flatMap((name) => rules.get(name) ?? []).map((one) => row(visit, repo, one)))}`
    : emptyState(
        'shield-lock',
        'No branch is protected',
        'A protected branch takes changes only as its rules allow: for example by pull requests that are approved and whose checks succeed.',
        add,
      )
  return repositorySettings(visit, repo, '/branches', 'Branch protection', body)
}

function row(visit: SignedIn, repo: Repository, rules: Protection): Html {
  const { branch } = rules
  const removal = html`<input type="hidden" name="branch" value="${branch}">${button('Remove', { kind: 'danger', size: 'small', label: `Remove the protection of ${branch}` })}`
  return html`<div class="title-line">${icon('git-branch')} <a href="${pathOfBranches(repo)}/edit?branch=${encodeURIComponent(branch)}"><strong>${branch}</strong></a><span class="space"></span>${form(visit, `${pathOfBranches(repo)}/delete`, removal, { class: 'inline' })}</div>
<p class="muted">${describe(rules).join(' · ')}</p>`
}

function describe(rules: Rules): string[] {
  const { required_pull_request_reviews: reviews, required_status_checks: checks } = rules
  return [
    reviews ? `pull requests with ${reviews.approvals_count} approvals` : 'direct pushes allowed',
    ...(checks ? [`${checks.checks.length} required checks`] : []),
    ...(rules.required_conversation_resolution ? ['resolved conversations'] : []),
    ...(rules.required_linear_history ? ['linear history'] : []),
    ...(rules.lock_branch ? ['read only'] : []),
    rules.allow_force_pushes ? 'force pushes allowed' : 'no force pushes',
    rules.allow_deletions ? 'may be deleted' : 'cannot be deleted',
    rules.enforce_admins ? 'also for administrators' : 'not for administrators',
  ]
}

const flags = [
  ['required_conversation_resolution', 'Require all review conversations to be resolved before merging'],
  ['required_linear_history', 'Require a linear history: no merge commits'],
  ['enforce_admins', 'Apply these rules to administrators too'],
  ['lock_branch', 'Lock the branch: nobody can push to it'],
  ['allow_force_pushes', 'Allow force pushes'],
  ['allow_deletions', 'Allow people to delete the branch'],
] as const

async function edit(visit: SignedIn, problem?: Problem): Promise<Outcome> {
  const repo = await loadAdministered(visit)
  const branch = typed(problem ? visit.form : visit.query, 'branch').slice(0, 255)
  const present: Rules = (branch && (await findProtection(visit.db, repo, branch))) || noRules
  const sent = problem ? visit.form : undefined
  const { required_pull_request_reviews: reviews, required_status_checks: checks } = present
  const chosen = (name: string, stored: boolean) => (sent ? sent.has(name) : stored)
  const inputs = html`${alert(problem)}${field({ label: 'Branch', name: 'branch', value: branch || repo.default_branch, required: true, longest: 255 })}
<fieldset><legend>Pull requests</legend>${choice({ name: 'reviews', value: 'on', chosen: chosen('reviews', reviews !== null) }, 'Require a pull request before merging')}
${field({ label: 'Required approvals (0 to 6)', name: 'approvals', numeric: true, value: sent?.get('approvals') ?? String(reviews?.approvals_count ?? 1), longest: 1 })}
${choice({ name: 'stale', value: 'on', chosen: chosen('stale', reviews?.dismiss_stale_reviews ?? false) }, 'Dismiss approvals when new commits are pushed')}</fieldset>
<fieldset><legend>Checks</legend>${choice({ name: 'checks', value: 'on', chosen: chosen('checks', checks !== null) }, 'Require checks to succeed before merging')}
${field({ label: 'Names of checks', name: 'contexts', value: sent?.get('contexts') ?? checks?.checks.map(({ context }) => context).join(', ') ?? '', longest: 2000, hint: 'Separated by commas.' })}
${choice({ name: 'strict', value: 'on', chosen: chosen('strict', checks?.strict ?? false) }, 'Require the branch of the pull request to be up to date')}</fieldset>
<fieldset><legend>Rules</legend>${flags.map(([name, text]) => choice({ name, value: 'on', chosen: chosen(name, present[name]) }, text))}</fieldset>
<p class="buttons">${button('Save', { kind: 'primary' })}${buttonLink('Cancel', pathOfBranches(repo))}</p>`
  return repositorySettings(
    visit,
    repo,
    '/branches',
    'Protect a branch',
    form(visit, `${pathOfBranches(repo)}/edit`, inputs),
    problem?.status,
  )
}

function save(visit: SignedIn): Promise<Outcome> {
  return attempt(
    async () => {
      const repo = await loadAdministered(visit)
      const branch = typed(visit.form, 'branch').slice(0, 255)
      if (!branch) throw invalid({ resource: 'Branch', code: 'custom', message: 'Name a branch' })
      await visit.db.transaction((db) =>
        changeProtection(db, visit.visitor, repo, branch, (present) => rulesOf(visit.form, present ?? noRules)),
      )
      return { to: pathOfBranches(repo), flash: { done: `The rules of ${branch} are saved.` } }
    },
    (problem) => edit(visit, problem),
  )
}

/** What the form does not show stays, such as lists of people who may push. */
function rulesOf(sent: URLSearchParams, present: Rules): Rules {
  const approvals = Number(/^[0-6]$/.exec(typed(sent, 'approvals'))?.[0] ?? Number.NaN)
  if (sent.has('reviews') && Number.isNaN(approvals)) {
    throw invalid({ resource: 'Branch', code: 'custom', message: 'The number of approvals is between 0 and 6' })
  }
  const known = present.required_pull_request_reviews
  const apps = new Map(present.required_status_checks?.checks.map(({ context, app_id }) => [context, app_id]))
  const contexts = [
    ...new Set(
      typed(sent, 'contexts')
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean),
    ),
  ].slice(0, 100)
  return {
    ...present,
    ...Object.fromEntries(flags.map(([name]) => [name, sent.has(name)])),
    required_pull_request_reviews: sent.has('reviews')
      ? {
          ...(known ?? { dismissal_restrictions: null, bypass_pull_request_allowances: noActors }),
          approvals_count: approvals,
          dismiss_stale_reviews: sent.has('stale'),
        }
      : null,
    required_status_checks: sent.has('checks')
      ? {
          strict: sent.has('strict'),
          checks: contexts.map((context) => ({ context: context.slice(0, 255), app_id: apps.get(context) ?? null })),
        }
      : null,
  }
}

async function remove(visit: SignedIn): Promise<Outcome> {
  const repo = await loadAdministered(visit)
  const branch = typed(visit.form, 'branch').slice(0, 255)
  await visit.db.transaction((db) => deleteProtection(db, visit.visitor, repo, branch))
  return { to: pathOfBranches(repo), flash: { done: `${branch} is no longer protected.` } }
}
