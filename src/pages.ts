import { pages as invitationPages } from '#hosting/collaborators/pages.ts'
import { pages as collaboratorPages } from '#hosting/collaborators/settings-pages.ts'
import { pages as commitPages } from '#hosting/commit-comments/pages.ts'
import { assets as commitAssets } from '#hosting/commits/views/history.ts'
import { pages as editingPages } from '#hosting/contents/editing/pages.ts'
import { assets as contentAssets, pages as contentPages } from '#hosting/contents/pages.ts'
import { pages as downloadPages } from '#hosting/downloads/pages.ts'
import { pages as explorePages } from '#hosting/explore/pages.ts'
import { pages as ownIssuePages } from '#hosting/issues/own/pages.ts'
import { assets as issueAssets, pages as issuePages } from '#hosting/issues/pages.ts'
import { pages as deployKeyPages } from '#hosting/keys/deploy-key-pages.ts'
import { pages as keyPages } from '#hosting/keys/pages.ts'
import { pages as labelPages } from '#hosting/labels/pages.ts'
import { pages as mergePages } from '#hosting/merges/pages.ts'
import { pages as milestonePages } from '#hosting/milestones/pages.ts'
import { pages as organizationPages } from '#hosting/organizations/pages.ts'
import { pages as emailPages } from '#hosting/people/emails/pages.ts'
import { assets as peopleAssets, pages as peoplePages } from '#hosting/people/pages.ts'
import { pages as protectionPages } from '#hosting/protection/pages.ts'
import { pages as comparisonPages } from '#hosting/pulls/comparisons/pages.ts'
import { assets as pullAssets, pages as pullPages } from '#hosting/pulls/pages.ts'
import { assets as branchAssets, pages as branchPages } from '#hosting/refs/pages.ts'
import { pages as releaseEditingPages } from '#hosting/releases/editing/pages.ts'
import { pages as releasePages } from '#hosting/releases/pages.ts'
import { assets as releaseAssets } from '#hosting/releases/views/release.ts'
import { assets as creationAssets, pages as creationPages } from '#hosting/repositories/creation/pages.ts'
import { pages as forkPages } from '#hosting/repositories/forks/pages.ts'
import { pages as repositorySettingsPages } from '#hosting/repositories/settings/general.ts'
import { pages as reviewPages } from '#hosting/reviews/pages.ts'
import { assets as searchAssets, pages as searchPages } from '#hosting/search/pages.ts'
import { pages as teamPages } from '#hosting/teams/pages.ts'
import { pages as transferPages } from '#hosting/transfers/pages.ts'
import { pages as appearancePages } from '#parts/account/appearance/pages.ts'
import { pages as applicationPages } from '#parts/account/applications/pages.ts'
import { pages as exportPages } from '#parts/account/export/pages.ts'
import { pages as accountPages } from '#parts/account/pages.ts'
import { pages as tokenPages } from '#parts/account/personal-tokens/pages.ts'
import { pages as twoFactorPages } from '#parts/account/two-factor/pages.ts'
import { assets as administrationAssets, pages as administrationPages } from '#parts/administration/pages.ts'
import { pages as installationPages } from '#parts/apps/installations/pages.ts'
import { pages as appPages } from '#parts/apps/pages.ts'
import { pages as appPermissionPages } from '#parts/apps/permissions/pages.ts'
import { pages as resumePages } from '#parts/authentication/lapsed/pages.ts'
import { pages as signInPages } from '#parts/authentication/pages.ts'
import { assets as documentationAssets } from '#parts/documentation/pages.ts'
import { pages as feedKeyPages } from '#parts/feeds/key-pages.ts'
import { assets as homeAssets, pages as homePages } from '#parts/home/pages.ts'
import { assets as importAssets, pages as importPages } from '#parts/imports/pages.ts'
import { assets as inboxAssets, pages as inboxPages } from '#parts/notifications/pages.ts'
import { pages as oauthPages } from '#parts/oauth/pages.ts'
import { assets as paletteAssets, pages as palettePages } from '#parts/palette/pages.ts'
import { assets as profileAssets } from '#parts/profiles/views/profile-page.ts'
import { pages as ownStarPages } from '#parts/starring/own/pages.ts'
import { pages as starringPages } from '#parts/starring/pages.ts'
import { pages as activityPages, assets as growthAssets } from '#parts/timelines/repository/pages.ts'
import { assets as timelineAssets } from '#parts/timelines/views/activity-list.ts'
import { pages as watchedPages } from '#parts/watching/own/pages.ts'
import { pages as watchingPages } from '#parts/watching/pages.ts'
import { pages as watchingPreferencePages } from '#parts/watching/preferences/pages.ts'
import { pages as editedDeliveryPages } from '#parts/webhooks/deliveries/edited-pages.ts'
import { pages as deliveryPages } from '#parts/webhooks/deliveries/pages.ts'
import { pages as diagnosisPages } from '#parts/webhooks/diagnosis/pages.ts'
import { assets as hookAssets, pages as hookPages } from '#parts/webhooks/pages.ts'
import { leaving, type PageRoute } from '#web/page.ts'

/** Every page except the API reference, which needs the API. */
export const pageRoutes: PageRoute[] = [
  ...homePages,
  ...administrationPages,
  ...searchPages,
  ...palettePages,
  ...explorePages,
  ...ownIssuePages,
  ...ownStarPages,
  ...watchedPages,
  ...leaving(signInPages),
  ...leaving(resumePages),
  ...accountPages,
  ...emailPages,
  ...appearancePages,
  ...exportPages,
  ...watchingPreferencePages,
  ...twoFactorPages,
  ...tokenPages,
  ...feedKeyPages,
  ...applicationPages,
  ...leaving(appPages),
  ...appPermissionPages,
  ...installationPages,
  ...keyPages,
  ...leaving(oauthPages),
  ...inboxPages,
  ...issuePages,
  ...labelPages,
  ...milestonePages,
  ...pullPages,
  ...reviewPages,
  ...comparisonPages,
  ...contentPages,
  ...editingPages,
  ...branchPages,
  ...mergePages,
  ...commitPages,
  ...downloadPages,
  ...releasePages,
  ...releaseEditingPages,
  ...starringPages,
  ...activityPages,
  ...forkPages,
  ...watchingPages,
  ...invitationPages,
  ...transferPages,
  ...repositorySettingsPages,
  ...collaboratorPages,
  ...deployKeyPages,
  ...protectionPages,
  ...creationPages,
  ...peoplePages,
  ...organizationPages,
  ...teamPages,
  ...hookPages,
  ...deliveryPages,
  ...editedDeliveryPages,
  ...diagnosisPages,
  ...importPages,
]

/** Styles and scripts of the parts. */
export const assetFolders = [
  administrationAssets,
  peopleAssets,
  contentAssets,
  branchAssets,
  issueAssets,
  commitAssets,
  releaseAssets,
  growthAssets,
  inboxAssets,
  hookAssets,
  importAssets,
  documentationAssets,
  timelineAssets,
  creationAssets,
  profileAssets,
  pullAssets,
  homeAssets,
  searchAssets,
  paletteAssets,
]
