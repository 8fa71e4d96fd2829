import type { Belfry } from '#belfry.ts'
import type { Account } from '#identity/accounts.ts'

/** What is in an archive, and what is not: the page and the file in the archive say the same. */
export const contents: [title: string, about: string, files: string[]][] = [
  ['Profile', 'Your profile and preferences, and your e-mail addresses.', ['profile.json', 'emails']],
  [
    'Access',
    'Public SSH keys, signed-in browsers, and the names, scopes and dates of your tokens and feed keys.',
    ['ssh-keys', 'sessions', 'tokens', 'feed-keys'],
  ],
  [
    'Applications',
    'Those that act for you, and those that you registered.',
    ['authorized-applications', 'own-applications', 'installed-apps'],
  ],
  [
    'People and repositories',
    'What you starred and watch, whom you follow and who follows you, your organizations and teams.',
    ['stars', 'watching', 'following', 'followers', 'organizations', 'teams'],
  ],
  [
    'What you wrote',
    'Issues, pull requests, comments and reviews, wherever you still have access.',
    ['issues', 'pull-requests', 'comments', 'reviews', 'review-comments', 'commit-comments'],
  ],
  ['Inbox', 'Your notifications and saved filters.', ['notifications', 'inbox-filters']],
  ['Activity', 'Your events, as long as this server keeps them.', ['events']],
  [
    'Your repositories',
    'For each that you own: its description, labels, milestones, issues, comments, releases, collaborators and webhooks, and a git bundle with all branches and tags.',
    ['repositories/NAME/'],
  ],
]

export const omissions = [
  'Secrets: passwords, tokens, keys of feeds, recovery codes, secrets of applications and webhooks.',
  'Repositories of organizations and of others, and whatever you wrote where you no longer have access.',
  'Files attached to releases, and large files (LFS): download them from the pages of the repository, or with git lfs fetch --all.',
  'Reactions, deliveries of webhooks, and entries of the audit log.',
]

export function readMe({ addresses }: Belfry, user: Account, at: Date): string {
  const list = contents.map(([title, about, files]) => `${title}: ${files.join(', ')}\n    ${about}`).join('\n')
  const missing = omissions.map((text) => `- ${text}`).join('\n')
  return `Data of ${user.login} on ${addresses.web}
Exported from ${at.toISOString()} on. The server went on meanwhile, so files may differ by what happened then.

WHAT IS INSIDE

A file NAME.jsonl has one JSON object on each line. Times are in UTC. A list without entries has no file. A long list is split into
NAME-0001.jsonl, NAME-0002.jsonl and so on; cat NAME-*.jsonl gives the whole list.

${list}

REPOSITORIES

A bundle is a repository in a file. To get it back:

    git clone --mirror repository.bundle NAME.git

A bundle of more than 8 MB is split; put it together first:

    cat repository-*.bundle > repository.bundle

From the server, you get the same with git clone --mirror ${addresses.web}/${user.login}/NAME.git

WHAT IS NOT INSIDE

${missing}
`
}
