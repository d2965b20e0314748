#!/usr/bin/env bash
# A feed with several listeners; posts and logins from other processes.
source "$(dirname "${BASH_SOURCE[0]}")/../stage.sh"
build feed-reader feed-composer

"$programs/feed-reader" >"$stage/screen" &
shown "$stage/screen" "Feed: Welcome"
# The composer tells how many it reached: none until the feed observes.
until printf 'First\nHello, world\n' | "$programs/feed-composer" | grep -qF "Posted to 1."; do :; done
shown "$stage/screen" "Feed: First"
"$programs/feed-composer" login ann
shown "$stage/screen" "Profile: ann"
"$programs/feed-composer" logout
shown "$stage/screen" "Profile: gone"
printf 'Second\nThe profile is closed\n' | "$programs/feed-composer" >/dev/null
shown "$stage/screen" "Feed: Second"
cat "$stage/screen"
