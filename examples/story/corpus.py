"""Write endless short stories for children, so that the example needs no text from anywhere else.

A story is drawn from a plot, and a plot is a list of steps; each step offers several sentences with slots. The
choices that must stay the same through a story (the hero, the friend, the thing, the place) are drawn once, which
gives a small model something to remember beyond grammar.
"""

import random

GIRLS = [
    "Lily",
    "Mia",
    "Anna",
    "Rosa",
    "Emma",
    "Nora",
    "Ida",
    "Clara",
    "Ruth",
    "Zoe",
    "Ella",
    "Maya",
    "June",
    "Tess",
    "Iris",
    "Lucy",
]
BOYS = [
    "Tom",
    "Ben",
    "Max",
    "Leo",
    "Sam",
    "Finn",
    "Otto",
    "Jack",
    "Noah",
    "Theo",
    "Hugo",
    "Adam",
    "Luke",
    "Paul",
    "Emil",
    "Oskar",
]
ANIMALS = [
    ("fox", "Rusty"), ("rabbit", "Clover"), ("owl", "Hazel"), ("bear", "Bruno"), ("mouse", "Pip"),
    ("frog", "Hopper"), ("cat", "Whiskers"), ("dog", "Biscuit"), ("duck", "Puddle"), ("goat", "Nutmeg"),
    ("turtle", "Pebble"), ("horse", "Chestnut"), ("squirrel", "Acorn"), ("hedgehog", "Thistle"),
    ("sheep", "Woolly"), ("crow", "Inky"),
]  # fmt: skip
TRAITS = [
    "kind",
    "brave",
    "curious",
    "shy",
    "clever",
    "gentle",
    "cheerful",
    "stubborn",
    "quiet",
    "lively",
    "patient",
    "dreamy",
]
SIZES = ["little", "tiny", "small", "tall", "young"]
COLOURS = ["red", "blue", "green", "yellow", "golden", "silver", "white", "purple", "orange", "brown"]
THINGS = [
    "ball",
    "kite",
    "boat",
    "hat",
    "scarf",
    "bell",
    "drum",
    "lantern",
    "basket",
    "button",
    "ribbon",
    "cup",
    "book",
    "key",
    "whistle",
    "wagon",
]
PLACES = [
    ("in", "a village by the sea"), ("in", "a small town"), ("in", "a house near the forest"),
    ("on", "a farm"), ("in", "a cottage on a hill"), ("beside", "a wide river"),
    ("in", "a valley full of flowers"), ("at", "the edge of a deep forest"), ("in", "a tall tower"),
    ("on", "an island"), ("near", "an old mill"), ("under", "a great oak tree"),
]  # fmt: skip
SPOTS = [
    "the garden", "the forest", "the meadow", "the river", "the lake", "the barn", "the market", "the beach",
    "the old bridge", "the hill", "the orchard", "the pond",
]  # fmt: skip
FOODS = [
    "an apple",
    "a pie",
    "some bread",
    "a cake",
    "some soup",
    "honey",
    "a pear",
    "some cheese",
    "a bowl of berries",
    "warm milk",
]
WEATHERS = ["sunny", "windy", "cold", "rainy", "warm", "bright", "foggy", "snowy"]
TIMES = ["One day", "One morning", "One afternoon", "One evening", "Early one morning", "After lunch", "On Sunday"]
JOBS = ["baker", "farmer", "fisherman", "teacher", "gardener", "miller", "shepherd", "tailor"]
ELDERS = ["mother", "father", "grandmother", "grandfather", "aunt", "uncle"]

OPENINGS = [
    "Once upon a time, there was a {trait} {kind} named {name}.",
    "Once upon a time, a {trait} {kind} named {name} lived {at} {place}.",
    "There was once a {size} {kind} called {name}, who was very {trait}.",
    "{name} was a {trait} {kind} who lived {at} {place}.",
    "Long ago, {at} {place}, there lived a {size} {kind} named {name}.",
]
HOMES = [
    "{He} lived {at} {place} with {his} {elder}.",
    "{His} home was {at} {place}, and {he} loved it there.",
    "Every day {he} went to {spot} to play.",
    "{He} had a {friend} named {pal}, and they were best friends.",
    "Everybody knew {name}, because {he} was so {trait}.",
    "More than anything, {he} loved {his} {colour} {thing}.",
]
DAYS = [
    "{time}, {name} went to {spot}.",
    "{time}, when it was {weather}, {name} walked to {spot}.",
    '{time}, {his} {elder} said, "Please go to {spot} and bring me {food}."',
    "It was a {weather} day, and {name} wanted to play near {spot}.",
    "{time}, {name} woke up and looked out of the window. It was {weather}.",
]
LOST = [
    ["{He} took {his} {colour} {thing} along.", "{He} carried {his} {colour} {thing} under {his} arm."],
    ["But on the way {he} lost the {thing}.", "Then the wind came and took the {thing} away.",
     "When {he} looked again, the {thing} was gone.", "Suddenly {he} fell, and the {thing} rolled away."],
    ["{name} was very sad and began to cry.", "\"Oh no!\" said {name}. \"Where is my {thing}?\"",
     "{He} looked under every stone, but {he} could not find it."],
    ["A {friend} named {pal} heard {him}.", "Just then, {pal} the {friend} came by.",
     "{pal} the {friend} was sitting nearby and saw everything."],
    ["\"Do not cry,\" said {pal}. \"I will help you.\"", "\"What is wrong?\" asked {pal}. {name} told {pal} about the {thing}.",
     "\"Let us look together,\" said the {friend}."],
    ["They looked behind the trees and under the leaves.", "They searched all day, near {spot} and far beyond it.",
     "{pal} looked high and {name} looked low."],
    ["At last they found the {colour} {thing} in a bush.", "At last {pal} saw something {colour}. It was the {thing}!",
     "There it was, the {colour} {thing}, behind a big stone."],
    ["{name} was so happy that {he} danced.", "\"Thank you!\" said {name}, and gave {pal} a big hug.",
     "{name} laughed and shared {food} with {pal}."],
]  # fmt: skip
FRIEND = [
    ["{He} wanted a friend, but {he} was alone.", "{He} had nobody to play with."],
    ["Near {spot} {he} met a {friend}.", "There {he} saw a {friend} under a tree."],
    ["The {friend} was {weather2} and hungry.", "The {friend} was stuck and could not move.",
     "The {friend} looked sad and all alone."],
    ["\"Hello,\" said {name}. \"What is your name?\"", "\"Can I help you?\" asked {name}."],
    ["\"My name is {pal},\" said the {friend}.", "\"I am {pal},\" the {friend} said in a soft voice."],
    ["{name} gave {pal} {food}.", "{name} shared {food} with the {friend}.",
     "{name} sat down and gave {pal} {his} {colour} {thing}."],
    ["{pal} smiled and felt much better.", "\"You are very {trait},\" said {pal}.", "Soon {pal} was happy again."],
    ["From that day on they played together at {spot}.", "After that, {name} and {pal} were best friends.",
     "{name} was not alone any more."],
]  # fmt: skip
STORM = [
    ["Dark clouds came over the hill.", "The sky turned dark and the wind began to blow."],
    ["Soon the rain was falling hard.", "Then there was thunder, and {name} was afraid."],
    ["{He} ran to find a dry place.", "\"I must go home,\" said {name}, but {he} could not see the way."],
    ["A {friend} called to {him} from an old tree.", "Then {he} heard the voice of {pal} the {friend}."],
    ["\"Come in here,\" said {pal}. \"It is warm and dry.\"", "\"Follow me,\" said {pal}. \"I know the way.\""],
    ["They sat together and ate {food}.", "They told each other stories until the storm was over.",
     "{pal} lit a {colour} lantern, and the dark was not so dark."],
    ["When the rain stopped, the sun came out.", "At last the sky was blue again, and there was a rainbow."],
    ["{name} thanked {pal} and ran home to {his} {elder}.", "\"Thank you, {pal},\" said {name}. \"You are a true friend.\""],
]  # fmt: skip
MAKE = [
    ["{He} wanted to make a {colour} {thing}.", "{He} saw a {colour} {thing} at the market and wanted one too."],
    ["But {he} did not know how.", "But {he} had no money at all."],
    ["So {he} went to the {job} and asked for help.", "So {he} asked {his} {elder}, who thought for a while."],
    ["\"You must work hard,\" said the {job}.", "\"It takes time,\" {he} was told, \"but you can do it.\""],
    ["{name} worked every day for a week.", "{name} tried and tried, and did not give up."],
    ["The first one broke, and the second one was too small.", "At first it went wrong, and {he} had to begin again."],
    ["In the end the {thing} was ready.", "On the last day {he} held a {colour} {thing} in {his} hands."],
    ["Everybody said that it was the best {thing} of all.", "{name} gave it to {pal} the {friend}, who was very happy.",
     "\"I made it,\" said {name}, and {he} was proud."],
]  # fmt: skip
SHARE = [
    ["{He} had {food} in {his} basket.", "{His} {elder} gave {him} {food} for the day."],
    ["On the road {he} met {pal} the {friend}.", "By and by {pal} the {friend} came along."],
    ["\"I am so hungry,\" said {pal}. \"Will you share with me?\"", "\"That smells good,\" said {pal}. \"May I have some?\""],
    ["{name} did not want to share.", "\"No,\" said {name}. \"It is all mine.\""],
    ["{pal} went away with a sad face.", "{pal} said nothing and walked slowly away."],
    ["Then {name} felt bad and could not eat.", "But now {name} was not hungry any more, only sorry."],
    ["{He} ran after {pal} and said, \"I am sorry. Let us share.\"", "\"Wait!\" called {name}. \"There is enough for two.\""],
    ["They sat down near {spot} and ate together.", "It tasted much better with a friend."],
]  # fmt: skip
HIDE = [
    ["{name} and {pal} the {friend} played hide and seek.", "\"Let us play a game,\" said {pal} the {friend}."],
    ["{pal} counted to ten, and {name} ran to hide.", "{name} closed {his} eyes and counted to ten."],
    ["The {friend} hid behind a {colour} door.", "{name} hid inside a big basket.", "Behind {spot} there was a good place to hide."],
    ["It was very quiet for a long time.", "Nobody made a sound."],
    ["\"Where are you?\" called a voice.", "\"I will find you!\" somebody said and laughed."],
    ["Then there was a loud noise, and a {colour} {thing} fell down.", "Then a {colour} {thing} fell over, and the game was up."],
    ["\"I found you!\" they both cried.", "They laughed so much that they had to sit down."],
    ["\"Now it is my turn,\" said {name}.", "They played until it was time for supper."],
]  # fmt: skip
PLOTS = [LOST, FRIEND, STORM, MAKE, SHARE, HIDE]
ENDINGS = [
    "That night {name} slept very well.",
    "And they lived happily ever after.",
    "{name} learned that it is good to help a friend.",
    "When {he} came home, {his} {elder} gave {him} a kiss and {food}.",
    "It was the best day of all.",
    "From then on, {name} was never afraid again.",
    "And if you go to {spot}, you may still see them there.",
    "{name} learned that sharing makes everything better.",
]


def draw_cast(rng: random.Random) -> dict[str, str]:
    """Choose what stays the same through one story."""
    girl = rng.random() < 0.5
    friend, pal = rng.choice(ANIMALS)
    at, place = rng.choice(PLACES)
    he, his, him = ("she", "her", "her") if girl else ("he", "his", "him")
    return {
        "name": rng.choice(GIRLS if girl else BOYS), "kind": "girl" if girl else "boy",
        "he": he, "his": his, "him": him, "He": he.title(), "His": his.title(),
        "friend": friend, "pal": pal, "at": at, "place": place, "spot": rng.choice(SPOTS),
        "trait": rng.choice(TRAITS), "size": rng.choice(SIZES), "colour": rng.choice(COLOURS),
        "thing": rng.choice(THINGS), "food": rng.choice(FOODS), "weather": rng.choice(WEATHERS),
        "weather2": rng.choice(["cold", "tired", "wet", "lost"]), "time": rng.choice(TIMES),
        "job": rng.choice(JOBS), "elder": rng.choice(ELDERS),
    }  # fmt: skip


def write_story(rng: random.Random) -> str:
    """Write one story of eighty to a hundred and fifty words, in one paragraph."""
    cast = draw_cast(rng)
    plot = rng.choice(PLOTS)
    opening = rng.choice(OPENINGS)
    homes = [home for home in HOMES if "{place}" not in opening or "{place}" not in home]
    lines = [opening, rng.choice(homes), rng.choice(DAYS)]
    lines += [rng.choice(step) for step in plot]
    lines.append(rng.choice(ENDINGS))
    story = " ".join(line.format(**cast) for line in lines)
    return story.replace(" a orange", " an orange").replace(" a old", " an old")


DRILLS = [
    "{name} had a {colour} {thing}.", "The {colour} {thing} was for {name}.", "{name} went to {spot}.",
    "{pal} the {friend} saw {name}.", "\"I love my {colour} {thing},\" said {name}.", "{name} and {pal} played with the {thing}.",
    "The {elder} of {name} was at {spot}.", "Then {name} gave {pal} {food}.", "\"Thank you, {name},\" said {pal}.",
    "{name} was a {trait} {kind}.", "Near {spot}, {name} lost the {thing}.", "{He} told {his} {elder} about {pal}.",
]  # fmt: skip


def write_drill(rng: random.Random) -> str:
    """Write sentences that hold little but what must be remembered: a model learns to look back from these first."""
    cast = draw_cast(rng)
    return " ".join(rng.choice(DRILLS).format(**cast) for _ in range(18))


if __name__ == "__main__":
    print(write_story(random.Random()))
