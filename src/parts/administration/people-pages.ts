import { administer, createUserByAdmin, resetPasswordByAdmin, type UserAct, userActs } from '#hosting/administration/acts.ts'
import { type Account, loadUser } from '#identity/accounts.ts'
import { missing } from '#platform/errors.ts'
import { person } from '#web/components/avatar.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { pager } from '#web/components/pager.ts'
import { table } from '#web/components/table.ts'
import { segments } from '#web/components/tabs.ts'
import { moment } from '#web/components/time.ts'
import { confirmed } from '#web/confirm-password.ts'
import { alert, attempt, choice, field, type Problem, typed } from '#web/fields.ts'
import { html } from '#web/html.ts'
import { form, type Outcome, type PageRoute, type SignedIn, showOwn, submitOwn } from '#web/page.ts'
import { shownOnce } from '#web/settings.ts'
import { type ListedAccount, listAccounts, type UserFilter, userFilters } from './accounts.ts'
import { onlyAdmins, perPage, wordsIn } from './site-admin.ts'
import { actButton, controlRow, controls, marks, renameAndDelete } from './views/account-controls.ts'
import { adminPage } from './views/frame.ts'

const place = '/site-admin/users'

export const peopleRoutes: PageRoute[] = [
  showOwn(place, onlyAdmins(list)),
  showOwn(
    `${place}/new`,
    onlyAdmins((visit) => newUser(visit)),
  ),
  submitOwn(`${place}/new`, onlyAdmins(confirmed(create))),
  showOwn(
    `${place}/:login`,
    onlyAdmins((visit) => userPage(visit)),
  ),
  submitOwn(`${place}/:login`, onlyAdmins(confirmed(act))),
]

async function list(visit: SignedIn): Promise<Outcome> {
  const asked = visit.query.get('filter') ?? ''
  const filter: UserFilter = Object.hasOwn(userFilters, asked) ? (asked as UserFilter) : 'all'
  const { words, page, slice, find } = wordsIn(visit, place, 'Find by login, name or e-mail address')
  const { rows, total } = await listAccounts(visit.db, 'User', words, filter, slice)
  const choices = Object.entries(userFilters).map(([name, text]) => ({
    text,
    href: `${place}${name === 'all' ? '' : `?filter=${name}`}`,
    current: name === filter,
  }))
  const query = { ...(words && { q: words }), ...(filter !== 'all' && { filter }) }
  const people = rows.length
    ? table(['Person', 'E-mail address', 'Repositories', 'Since', html`<span class="unseen">Actions</span>`], rows.map(line), {
        label: 'People',
      })
    : emptyState('people', 'Nobody is found')
  const body = html`<div class="title-bar">${segments('People shown', choices)}${buttonLink('New person', `${place}/new`, { kind: 'primary' })}</div>
${find}${people}${pager(place, query, page, Math.ceil(total / perPage))}`
  return adminPage(visit, place, 'People', body)
}

const line = (user: ListedAccount) => [
  html`${person(user, 24)} ${user.name ?? ''} ${marks(user)}`,
  user.email ?? '',
  user.repositories,
  moment(user.created_at),
  buttonLink('Manage', `${place}/${user.login}`, { size: 'small', label: `Manage ${user.login}` }),
]

function newUser(visit: SignedIn, problem?: Problem): Outcome {
  const value = (name: string) => visit.form.get(name)
  const inputs = html`${alert(problem)}${field({ label: 'Login', name: 'login', value: value('login'), required: true, longest: 100 })}
${field({ label: 'E-mail address', name: 'email', type: 'email', value: value('email') })}
${field({ label: 'Password', name: 'password', type: 'password', autocomplete: 'new-password', hint: 'At least 8 characters. Without one, the person can use tokens only.' })}${button('Create', { kind: 'primary' })}`
  return adminPage(visit, place, 'New person', form(visit, `${place}/new`, inputs), problem?.status)
}

function create(visit: SignedIn): Promise<Outcome> {
  return attempt(
    async () => {
      const wanted = {
        login: typed(visit.form, 'login'),
        email: typed(visit.form, 'email') || undefined,
        password: visit.form.get('password') || undefined,
      }
      const { login } = await createUserByAdmin(visit.db, visit.visitor, wanted)
      return { to: `${place}/${login}`, flash: { done: `${login} has an account now.` } }
    },
    (problem) => newUser(visit, problem),
  )
}

async function userPage(visit: SignedIn, problem?: Problem): Promise<Outcome> {
  const user = await loadUser(visit.db, visit.params.login ?? '')
  const path = `${place}/${user.login}`
  const self = user.id === visit.visitor.id
  const send = (act: UserAct, text: string, danger = false) => actButton(visit, path, act, text, danger)
  const rights = user.site_admin
    ? controlRow('Site admin', 'May administer this server.', send('demote', 'Demote', true))
    : controlRow('Site admin', 'May not administer this server.', send('promote', 'Promote'))
  const suspension = user.suspended_at
    ? controlRow('Suspension', 'Tokens, password and sessions do not work.', send('unsuspend', 'End the suspension'))
    : controlRow('Suspension', 'While suspended, tokens, password and sessions do not work.', send('suspend', 'Suspend', true))
  const password = controlRow(
    'Password',
    'Sets a new one, which is shown once, and ends all sessions. Tokens still work.',
    resetForm(visit, path),
  )
  const all = controls(
    rights,
    suspension,
    password,
    renameAndDelete(visit, path, user.login, 'the account with all its repositories'),
  )
  const { secret } = visit.flash
  const body = html`${alert(problem)}${secret !== undefined && shownOnce(`The password of ${user.login}`, secret)}<p>${person(user, 32)} ${user.name} ${marks(user)}</p><p class="muted">${user.email} · since ${moment(user.created_at)}</p>
${self ? html`<p class="muted">This is your own account, which another administrator has to change.</p>` : all}`
  return adminPage(visit, place, user.login, body, problem?.status)
}

const resetForm = (visit: SignedIn, path: string) =>
  form(
    visit,
    path,
    html`${choice({ name: 'disable_two_factor', value: 'yes' }, 'Also remove the second factor')}${button('Reset password', { kind: 'danger', name: 'act', value: resetAct })}`,
    { class: 'buttons' },
  )

const resetAct = 'reset_password'

async function reset(visit: SignedIn, user: Account): Promise<Outcome> {
  const two_factor = visit.form.get('disable_two_factor') !== 'yes'
  const secret = await resetPasswordByAdmin(visit.db, visit.visitor, user, { two_factor })
  const done = `All sessions of ${user.login} have ended. Ask them to change the password after they sign in.`
  return { to: `${place}/${user.login}`, flash: { done, secret } }
}

function act(visit: SignedIn): Promise<Outcome> {
  return attempt(
    async () => {
      const user = await loadUser(visit.db, visit.params.login ?? '')
      if (visit.form.get('act') === resetAct) return reset(visit, user)
      const wanted = userActs.find((one) => one === visit.form.get('act'))
      if (!wanted) throw missing()
      const login = await administer(visit.db, visit.visitor, user, wanted, {
        new_login: typed(visit.form, 'new_login'),
        confirm: typed(visit.form, 'confirm'),
      })
      return login === null
        ? { to: place, flash: { done: `${user.login} is deleted.` } }
        : { to: `${place}/${login}`, flash: { done: 'Done.' } }
    },
    (problem) => userPage(visit, problem),
  )
}
