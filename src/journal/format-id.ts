/** What the journal is called among formats. By itself, for those who need to know no more of it. */
export const JOURNAL = 'journal'
