import { checkEmail, checkLogin } from '#hosting/people/people.ts'
import { isAppPermission, permissionNames } from '#identity/permissions.ts'
import { isScope, isServed, scopeTree } from '#identity/scopes.ts'
import { describeKey } from '#parts/apps/apps.ts'
import { permissionsOfEvent } from '#parts/apps/events.ts'
import type { Seed, SeedApp, SeedOrganization } from './format.ts'
import { suggestOrList } from './nearest.ts'
import type { Fault, Path } from './path.ts'
import { References } from './reference-check.ts'
import { checkRepositories } from './repository-references.ts'

/** What is missing, there twice, or impossible. All values have the right types already. `complete`: with all names. */
export function checkReferences(seed: Seed, complete = true): Fault[] {
  const references = new References(seed, complete)
  checkUsers(references, seed)
  const { organizations = [], apps = [], oauth_applications = [] } = seed
  for (const [index, organization] of organizations.entries())
    checkOrganization(references, ['organizations', index], organization)
  checkRepositories(references, seed)
  references.unique(
    ['oauth_applications'],
    oauth_applications.map(({ name }) => name),
    'name',
  )
  for (const [index, { owner }] of oauth_applications.entries()) references.user(['oauth_applications', index, 'owner'], owner)
  references.unique(
    ['apps'],
    apps.map(({ name }) => name),
    'name',
  )
  for (const [index, app] of apps.entries()) checkApp(references, ['apps', index], app)
  return references.faults
}

function checkUsers(references: References, { users = [], organizations = [] }: Seed) {
  references.unique(
    ['users'],
    users.map(({ login }) => login),
    'login',
  )
  references.unique(
    ['users'],
    users.map(({ login, email = `${login}@example.com` }) => email),
    'email',
  )
  const tokens = users.flatMap(({ login, tokens = [{ name: login }] }, index) =>
    tokens.map((token, place) => ({ path: ['users', index, 'tokens', place], ...token })),
  )
  for (const field of ['name', 'value'] as const) {
    const seen = new Set<string>()
    for (const { path, [field]: text } of tokens) {
      if (text !== undefined && seen.has(text)) references.report([...path, field], `"${text}" is there twice`)
      if (text !== undefined) seen.add(text)
    }
  }
  for (const { path, scopes = [] } of tokens) {
    for (const [place, scope] of scopes.entries())
      if (!isScope(scope)) references.report([...path, 'scopes', place], describeScope(scope))
  }
  for (const [index, { login, email, follows = [], site_admin, password }] of users.entries()) {
    if (login !== 'admin') references.attempt(['users', index, 'login'], () => checkLogin(login, 'User'))
    if (email !== undefined) references.attempt(['users', index, 'email'], () => checkEmail(email))
    references.usersOf(['users', index, 'follows'], follows)
    const own = follows.indexOf(login)
    if (own >= 0) references.report(['users', index, 'follows', own], 'a user cannot follow themselves')
    if (login === 'admin' && site_admin === false)
      references.report(['users', index, 'site_admin'], 'admin is always a site admin')
    if (login === 'admin' && password !== undefined)
      references.report(['users', index, 'password'], 'the first start gives admin a password and prints it')
  }
  references.unique(
    ['organizations'],
    organizations.map(({ login }) => login),
    'login',
  )
  const logins = new Set(users.map(({ login }) => login.toLowerCase()).concat('admin'))
  for (const [index, { login }] of organizations.entries()) {
    references.attempt(['organizations', index, 'login'], () => checkLogin(login, 'Organization'))
    if (logins.has(login.toLowerCase())) references.report(['organizations', index, 'login'], `"${login}" is the login of a user`)
  }
}

const scopeNames = scopeTree.map(({ name }) => name).filter(isServed)
const describeScope = (scope: string) => `there is no scope "${scope}"${suggestOrList(scope, scopeNames)}`

function checkOrganization(references: References, path: Path, organization: SeedOrganization) {
  const { login, owners, members = [], teams = [], hooks } = organization
  references.usersOf([...path, 'owners'], owners)
  references.usersOf([...path, 'members'], members)
  const all = new Set([...owners, ...members])
  for (const [index, member] of members.entries())
    if (owners.includes(member)) references.report([...path, 'members', index], `"${member}" is an owner already`)
  references.unique(
    [...path, 'teams'],
    teams.map(({ name }) => name),
    'name',
  )
  for (const [index, team] of teams.entries()) {
    for (const field of ['maintainers', 'members'] as const)
      for (const [place, member] of (team[field] ?? []).entries())
        references.find([...path, 'teams', index, field, place], member, `member of ${login}`, all)
    for (const [place, { name }] of (team.repositories ?? []).entries()) {
      const at = [...path, 'teams', index, 'repositories', place, 'name']
      if (name.startsWith(`${login}/`)) references.repository(at, name)
      else references.report(at, `must be a repository of ${login}`)
    }
  }
  references.hooks([...path, 'hooks'], hooks, 'organization')
}

const appPermissions = [...permissionNames.repository, ...permissionNames.organization]

function checkApp(references: References, path: Path, { owner, permissions = {}, events = [], ...app }: SeedApp) {
  references.find([...path, 'owner'], owner, 'user or organization', new Set([...references.users, ...references.organizations]))
  for (const name of Object.keys(permissions))
    if (!isAppPermission(name))
      references.report([...path, 'permissions', name], `there is no permission "${name}"${suggestOrList(name, appPermissions)}`)
  references.events([...path, 'events'], events, 'integration')
  for (const [index, event] of events.entries()) {
    const needed = permissionsOfEvent(event)
    if (needed.length && !needed.some((name) => name === 'metadata' || name in permissions))
      references.report([...path, 'events', index], `"${event}" needs the permission ${needed.join(' or ')}: read`)
  }
  for (const [index, { account, repositories = [] }] of (app.installations ?? []).entries()) {
    const at = [...path, 'installations', index]
    references.find(
      [...at, 'account'],
      account,
      'user or organization',
      new Set([...references.users, ...references.organizations]),
    )
    for (const [place, name] of repositories.entries()) {
      if (name.startsWith(`${account}/`)) references.repository([...at, 'repositories', place], name)
      else references.report([...at, 'repositories', place], `must be a repository of ${account}`)
    }
  }
  if (app.private_key === undefined) return
  try {
    describeKey(app.private_key)
  } catch {
    references.report([...path, 'private_key'], 'must be an RSA key in PEM format')
  }
}
