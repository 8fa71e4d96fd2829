import { isSignUpOpen, type Settings } from '#config.ts'
import type { DemoAccess } from '#demo/demo.ts'
import { accessFile } from '#seed/access-file.ts'
import type { SeedAccess } from '#seed/format.ts'
import type { Running } from '#start.ts'

/** The addresses, the location of the data and, on the first start, the admin's credentials. Fits a terminal of 24 lines. */
export function startScreen({ belfry, postgres, first_admin }: Running, demo?: DemoAccess | null, seed?: SeedAccess | null) {
  const { addresses, settings, version } = belfry
  const lines: [string, string][] = []
  if (addresses.web) {
    lines.push(['Web pages', addresses.web], ['API, self-hosted', `${addresses.web}/api/v3`])
    if (addresses.versioned) lines.push(['API, versioned', addresses.versioned])
    lines.push(['API reference', `${addresses.web}/docs`], ['Sign-up', signUp(settings)], ['Visitors', visitors(settings)])
  } else {
    lines.push(['Role', 'worker only: this process runs background jobs and answers no requests'])
  }
  lines.push(['Data', settings.BELFRY_DATA], ['Database', databaseOf(postgres)])
  if (postgres?.location.moved.database) {
    lines.push(['', `(PostgreSQL runs as "${postgres.location.account?.name}", which has no access to the data folder)`])
  }
  if (postgres?.location.moved.programs) lines.push(['PostgreSQL', `programs copied to ${postgres.location.binaries}`])
  const parts = ['', `  Belfry ${version}`, '', ...lines.map(([label, text]) => `  ${label.padEnd(18)}${text}`), '']
  if (first_admin) parts.push(...welcome(first_admin, addresses.web))
  if (demo !== undefined) parts.push(...describeDemo(demo, addresses.web))
  if (seed !== undefined) parts.push(...describeSeed(seed, accessFile(belfry)))
  return parts.join('\n')
}

const signUp = (settings: Settings) =>
  isSignUpOpen(settings) ? 'on: visitors can create accounts' : 'off: a site admin creates accounts, or set BELFRY_SIGNUP=on'

const visitors = ({ BELFRY_SIGN_IN_ONLY }: Settings) =>
  BELFRY_SIGN_IN_ONLY === 'on'
    ? 'see nothing before they sign in'
    : 'see what is public without signing in, until BELFRY_SIGN_IN_ONLY=on'

function databaseOf(postgres: Running['postgres']) {
  return postgres ? `embedded PostgreSQL in ${postgres.location.cluster}` : 'the PostgreSQL server in DATABASE_URL'
}

function welcome({ login, password, token }: NonNullable<Running['first_admin']>, web: string) {
  return [
    '  First start. These are the credentials of the site admin. Save them: they are not shown again.',
    '',
    `  ${'Login'.padEnd(18)}${login}`,
    `  ${'Password'.padEnd(18)}${password}`,
    `  ${'Token'.padEnd(18)}${token}`,
    '',
    ...(web
      ? [`  Sign in at ${web}/login, or try the API:`, `  curl -H "Authorization: Bearer ${token}" ${web}/api/v3/user`, '']
      : []),
  ]
}

function describeDemo(demo: DemoAccess | null, web: string) {
  if (!demo) return ['  The demo data is already loaded. Its password and tokens were printed by the start that loaded it.', '']
  const state =
    demo.password === undefined
      ? [
          '  The load of the demo was interrupted, so its story ends early and its password is lost. For the whole story, start Belfry',
          '  with another folder in BELFRY_DATA. These are the users and new API tokens. Save them: they are not shown again.',
        ]
      : ['  Demo data is loaded. These are the users and their API tokens. Save them: they are not shown again.']
  return [
    ...state,
    '',
    ...Object.entries(demo.tokens).map(([login, token]) => `  ${login.padEnd(18)}${token}`),
    ...(demo.password === undefined ? [] : [`  ${'Password'.padEnd(18)}${demo.password}  (for all of them)`]),
    ...(web ? ['', '  Links that sign in, each once and within a day:', ...linksOf(demo, web)] : []),
    '',
  ]
}

const linksOf = ({ links }: DemoAccess, web: string) =>
  Object.entries(links).map(([login, path]) => `  ${login.padEnd(9)}${web}${path}`)

/** Longer lists of users end here, so that the addresses stay on the screen. */
const mostUsers = 10

function describeSeed(seed: SeedAccess | null, file: string) {
  if (!seed) return [`  The seed is already loaded. Nothing was changed. Its tokens are in ${file}`, '']
  const users = Object.values(seed.users)
  return [
    '  The seed is loaded. These are its users and their API tokens. Who knows the file knows the tokens.',
    '',
    ...users.slice(0, mostUsers).map(({ login, token }) => `  ${login.padEnd(18)}${token}`),
    ...(users.length > mostUsers ? [`  … and ${users.length - mostUsers} more`] : []),
    '',
    `  All tokens, clients and keys of the seed are in ${file}`,
    '',
  ]
}
