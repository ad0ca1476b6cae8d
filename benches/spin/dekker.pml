/* Dekker's algorithm, as in examples/dekker.bp. */
bool left_wants, right_wants, lefts_turn = true, left_inside, right_inside;

active proctype left() {
  do
  :: left_wants = true;
     do
     :: right_wants ->
        if
        :: !lefts_turn -> left_wants = false; lefts_turn; left_wants = true
        :: lefts_turn
        fi
     :: !right_wants -> break
     od;
     left_inside = true;
     assert(!right_inside);
     left_inside = false;
     lefts_turn = false;
     left_wants = false
  od
}

active proctype right() {
  do
  :: right_wants = true;
     do
     :: left_wants ->
        if
        :: lefts_turn -> right_wants = false; !lefts_turn; right_wants = true
        :: !lefts_turn
        fi
     :: !left_wants -> break
     od;
     right_inside = true;
     assert(!left_inside);
     right_inside = false;
     lefts_turn = true;
     right_wants = false
  od
}
