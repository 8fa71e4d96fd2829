import { suggest } from './nearest.ts'

/** What other products and files call our keys. The first that the place has is suggested. */
const synonyms: Record<string, string[]> = {
  ...{ username: ['login'], user: ['author', 'login', 'users', 'owner'], handle: ['login'], people: ['users'], slug: ['name'] },
  ...{ repos: ['repositories'], projects: ['repositories'], orgs: ['organizations'], groups: ['organizations', 'teams'] },
  ...{ prs: ['pull_requests'], pulls: ['pull_requests'], merge_requests: ['pull_requests'], full_name: ['name'] },
  ...{
    description: ['body', 'bio'],
    text: ['body'],
    content: ['body', 'files'],
    comment: ['body'],
    about: ['bio', 'description'],
  },
  ...{
    created_at: ['at'],
    date: ['at'],
    created: ['at'],
    published_at: ['at'],
    merged_at: ['closed_at'],
    visibility: ['private'],
  },
  ...{ public: ['private'], parent: ['fork_of'], source: ['fork_of', 'head'], branches: ['commits'], tag: ['tag_name', 'tags'] },
  ...{ reactions: [], role: ['permission'], access: ['permission'], webhooks: ['hooks'], callback: ['callback_url'] },
  ...{ admin: ['site_admin'], admins: ['owners'], stars: ['stargazers'], subject: ['title'], summary: ['title', 'message'] },
  ...{ merged: ['state'], closed: ['state'], status: ['state'], token: ['tokens'], creator: ['author', 'owner'] },
}

/** Names the nearest key, and the keys of the place unless an error before listed them. */
export function describeUnknownKey(key: string, known: string[], isListed: boolean): string {
  const [synonym] = Object.hasOwn(synonyms, key) ? (synonyms[key] ?? []).filter((name) => known.includes(name)) : []
  const near = synonym ? `. Did you mean "${synonym}"?` : suggest(key, known)
  const list = isListed && near ? '' : `${near ? '' : '.'} The keys here are ${known.join(', ')}`
  return `unknown key "${key}"${near}${list}`
}
