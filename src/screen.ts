import type { DemoAccess } from '#demo/demo.ts'
import type { Running } from '#start.ts'

/** One screen: where to go, where data lives, and, the first time, who may enter. */
export function startScreen({ belfry, postgres, first_admin }: Running, demo?: DemoAccess | null) {
  const { addresses, settings, version } = belfry
  const lines: [string, string][] = []
  if (addresses.web) {
    lines.push(['Web pages', addresses.web], ['API, self-hosted', `${addresses.web}/api/v3`])
    if (addresses.versioned) lines.push(['API, versioned', addresses.versioned])
    lines.push(['Reference', `${addresses.web}/docs`])
  } else {
    lines.push(['Role', 'worker only: this process answers no requests'])
  }
  lines.push(['Data', settings.BELFRY_DATA], ['Database', databaseOf(postgres)])
  if (postgres?.place.moved.database) {
    lines.push(['', `PostgreSQL runs as "${postgres.place.account?.name}", which cannot enter the data folder`])
  }
  if (postgres?.place.moved.programs) lines.push(['PostgreSQL', `its programs are copied to ${postgres.place.binaries}`])
  const parts = ['', `  Belfry ${version}`, '', ...lines.map(([label, text]) => `  ${label.padEnd(18)}${text}`), '']
  if (first_admin) parts.push(...welcome(first_admin, addresses.web))
  if (demo !== undefined) parts.push(...describeDemo(demo, addresses.web))
  return parts.join('\n')
}

function databaseOf(postgres: Running['postgres']) {
  return postgres ? `embedded PostgreSQL in ${postgres.place.cluster}` : 'the server that DATABASE_URL names'
}

function welcome({ login, password, token }: NonNullable<Running['first_admin']>, web: string) {
  return [
    '  First start: here is the site admin. This is shown once; keep it.',
    '',
    `  ${'Login'.padEnd(18)}${login}`,
    `  ${'Password'.padEnd(18)}${password}`,
    `  ${'Token'.padEnd(18)}${token}`,
    '',
    ...(web ? [`  Try:  curl -H "Authorization: Bearer ${token}" ${web}/api/v3/user`, ''] : []),
  ]
}

function describeDemo(demo: DemoAccess | null, web: string) {
  if (!demo) return ['  The demo data was here already. Its password and tokens were shown when it was loaded.', '']
  return [
    '  Demo data: the organization clockwork, its repositories, and these people with their tokens. This is shown once; keep it.',
    '',
    ...Object.entries(demo.tokens).map(([login, token]) => `  ${login.padEnd(18)}${token}`),
    `  ${'Password'.padEnd(18)}${demo.password}  (the same for all of them${web && `, at ${web}/login`})`,
    '',
  ]
}
