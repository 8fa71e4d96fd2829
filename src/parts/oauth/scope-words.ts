import type { Scope } from '#identity/scopes.ts'

/** What a scope allows, for the consent page. */
const words: Record<Scope, string> = {
  repo: 'Read and change all your repositories, public and private, with their issues, settings and webhooks',
  'repo:status': 'Read and set the status of commits, also in private repositories',
  repo_deployment: 'Read and record deployments, also of private repositories',
  public_repo: 'Read and change your public repositories, and star for you',
  'repo:invite': 'Accept or decline invitations to repositories',
  security_events: 'Read and change security alerts of your repositories',
  'admin:repo_hook': 'Read, make, change and delete webhooks of your repositories',
  'write:repo_hook': 'Read, make and change webhooks of your repositories',
  'read:repo_hook': 'Read webhooks of your repositories',
  'admin:org': 'Manage your organizations, their teams and members',
  'write:org': 'Change memberships and teams of your organizations',
  'read:org': 'See your organizations, teams and memberships',
  'admin:public_key': 'Read, add and delete your SSH keys',
  'write:public_key': 'Read and add SSH keys',
  'read:public_key': 'Read your SSH keys',
  'admin:gpg_key': 'Read, add and delete your GPG keys',
  'write:gpg_key': 'Read and add GPG keys',
  'read:gpg_key': 'Read your GPG keys',
  user: 'Read and change your profile, e-mail addresses and whom you follow',
  'read:user': 'Read all of your profile',
  'user:email': 'Read your e-mail addresses',
  'user:follow': 'Follow and unfollow people for you',
  project: 'Read and change your projects',
  'read:project': 'Read your projects',
  'admin:enterprise': 'Manage the enterprise',
  'manage_runners:enterprise': 'Manage the runners of the enterprise',
  'manage_billing:enterprise': 'Read and change the billing of the enterprise',
  'read:enterprise': 'Read the profile of the enterprise',
  'admin:org_hook': 'Manage webhooks of your organizations',
  gist: 'Make and change gists',
  notifications: 'Read your notifications and mark them as read, and watch repositories for you',
  delete_repo: 'Delete repositories that you administer',
  'write:packages': 'Publish packages',
  'read:packages': 'Download packages',
  'delete:packages': 'Delete packages',
  workflow: 'Change workflow files',
  site_admin: 'Use the administration of this site, if you are a site admin',
}

export function inWords(scope: string): string {
  return Object.hasOwn(words, scope) ? words[scope as Scope] : scope
}

/** What every token allows. */
export const withoutScope = 'Know who you are, and read what is public'
