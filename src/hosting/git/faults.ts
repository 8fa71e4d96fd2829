/** Old and harmless faults that many histories have; all others that git knows of are refused, by a push and by the API alike. */
const tolerated = ['zeroPaddedFilemode', 'badTimezone', 'missingSpaceBeforeDate']

export const tolerantSettings = tolerated.map((fault) => `receive.fsck.${fault}=ignore`)

/** The same for programs that check objects by themselves. */
export const toleratedFaults = tolerated.map((fault) => `${fault.toLowerCase()}=ignore`).join()
