import { Refusal } from '#platform/errors.ts'

const everywhere = {
  actions: 'Actions',
  codespaces: 'Codespaces',
  copilot: 'Copilot',
  dependabot: 'Dependabot',
  packages: 'packages',
  projects: 'projects',
  projectsV2: 'projects',
  attestations: 'attestations',
  migrations: 'migrations',
  'interaction-limits': 'interaction limits',
}

const security = {
  'code-scanning': 'code scanning',
  'code-security': 'security configurations',
  'secret-scanning': 'secret scanning',
  'security-advisories': 'security advisories',
  rulesets: 'rulesets',
  properties: 'custom properties',
}

/** Areas of the public API that Belfry does not serve, by the segment of the path after the repository, organization or user. */
const areas: Record<'repos' | 'orgs' | 'users' | 'user' | 'top', Record<string, string>> = {
  repos: {
    ...everywhere,
    ...security,
    rules: 'rulesets',
    dispatches: 'repository dispatches',
    discussions: 'discussions',
    pages: 'Pages',
    'dependency-graph': 'the dependency graph',
    'vulnerability-alerts': 'vulnerability alerts',
    'automated-security-fixes': 'security fixes',
    'private-vulnerability-reporting': 'vulnerability reports',
    'code-security-configuration': 'security configurations',
    autolinks: 'autolinks',
    traffic: 'traffic',
    community: 'community profiles',
    codeowners: 'errors of code owners',
  },
  orgs: { ...everywhere, ...security, discussions: 'discussions', blocks: 'blocked users', 'issue-types': 'issue types' },
  users: {
    ...everywhere,
    gists: 'gists',
    gpg_keys: 'GPG keys',
    ssh_signing_keys: 'signing keys',
    social_accounts: 'social accounts',
  },
  user: {
    ...everywhere,
    blocks: 'blocked users',
    gpg_keys: 'GPG keys',
    ssh_signing_keys: 'signing keys',
    social_accounts: 'social accounts',
    marketplace_purchases: 'the Marketplace',
  },
  top: {
    gists: 'gists',
    projects: 'projects',
    advisories: 'security advisories',
    codes_of_conduct: 'codes of conduct',
    marketplace_listing: 'the Marketplace',
    classrooms: 'classrooms',
    assignments: 'classrooms',
    enterprises: 'enterprises',
  },
}

/** The header that names the area. A test can look for it. */
export const unservedHeader = 'X-Belfry-Unserved'

/** The area of a path without the prefix of the variant; undefined if the public API has no such address either, or Belfry serves the area. */
export function unservedArea(path: string): string | undefined {
  const [first = '', second = '', third = '', fourth = ''] = path.slice(1).split('?', 1)[0]?.split('/', 5) ?? []
  const [kind, segment] =
    first === 'repos'
      ? (['repos', fourth] as const)
      : first === 'repositories'
        ? (['repos', third] as const)
        : first === 'orgs' || first === 'users'
          ? ([first, third] as const)
          : first === 'user'
            ? (['user', second] as const)
            : (['top', first] as const)
  return Object.hasOwn(areas[kind], segment) ? areas[kind][segment] : undefined
}

/** The same for every repository, organization and user, whether it exists or not, so that it reveals nothing. */
export const notServed = (area: string) =>
  new Refusal('missing', `Not Found: Belfry does not serve ${area}. See docs/differences.md, "What is not served".`)
