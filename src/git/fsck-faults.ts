/** Old and harmless faults that many histories have. Pushes and the API refuse all other faults that git checks for. */
export const tolerated = ['zeroPaddedFilemode', 'badTimezone', 'missingSpaceBeforeDate']

export const tolerantSettings = tolerated.map((fault) => `receive.fsck.${fault}=ignore`)

/** The same for `git index-pack` and similar programs. */
export const toleratedFaults = tolerated.map((fault) => `${fault.toLowerCase()}=ignore`).join()
